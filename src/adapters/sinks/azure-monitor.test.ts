import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { auditDocuments, testTimeMs } from '../../../test/support/audit-documents.ts'
import { startReceiver, type Received, type Reply } from '../../../test/support/receiver.ts'
import { jumpingClock, sinkParts, tally } from '../../../test/support/sink-parts.ts'
import { isRecord } from '../../base/record.ts'
import { azureMonitor } from './azure-monitor.ts'

const signal = new AbortController().signal
const hour = 3_600_000
const dcr = `dcr-${'0a'.repeat(16)}`
const config = {
  endpoint: 'https://gateway-x1.westeurope-1.ingest.monitor.azure.com',
  dcr_immutable_id: dcr,
  stream_name: 'Custom-Gatehouse',
  tenant_id: '11111111-2222-3333-4444-555555555555',
  client_id: '66666666-7777-8888-9999-000000000000',
  client_secret: 'value~of.the_secret',
}
const columns = [
  'TimeGenerated',
  'EventTime',
  'EventId',
  'OrgId',
  'Sequence',
  'EventCode',
  'Decision',
  'ReasonCode',
  'PolicyId',
  'PolicyVersion',
  'ActorUserId',
  'ProjectId',
  'Model',
  'SeverityId',
  'IsLate',
  'Event',
]

type Rules = { readonly login?: () => Reply | undefined; readonly ingest?: () => Reply | undefined }

/** Microsoft's login: client credentials, one token per call, each valid for an hour. */
function login({ login: failure }: Rules, issued: Set<string>) {
  return ({ target, text }: Received): Reply => {
    const reply = failure?.()
    if (reply) return reply
    const form = new URLSearchParams(text)
    if (target !== `/${config.tenant_id}/oauth2/v2.0/token`) return { status: 404 }
    if (form.get('grant_type') !== 'client_credentials')
      return { status: 400, body: { error: 'unsupported_grant_type' } }
    if (form.get('scope') !== 'https://monitor.azure.com/.default')
      return { status: 400, body: { error: 'invalid_scope' } }
    if (form.get('client_secret') !== config.client_secret) {
      return { status: 401, body: { error: 'invalid_client', error_description: 'SECRET' } }
    }
    const token = `token-${issued.size}`
    issued.add(token)
    return { status: 200, body: { access_token: token, expires_in: 3_600, token_type: 'Bearer' } }
  }
}

/** The Logs Ingestion API: at most 1 MB, declared columns only, all events or none. */
function ingestion({ ingest: failure }: Rules, issued: Set<string>, rows: Record<string, unknown>[]) {
  return ({ target, headers, text, raw }: Received): Reply => {
    const reply = failure?.()
    if (reply) return reply
    if (!issued.has(headers.authorization?.replace('Bearer ', '') ?? '')) return { status: 401 }
    if (target !== `/dataCollectionRules/${dcr}/streams/Custom-Gatehouse?api-version=2023-01-01`) {
      return { status: 404, body: { error: { code: 'NotFound', message: 'SECRET' } } }
    }
    if (Buffer.byteLength(text) > 1_000_000 || raw.length > 1_000_000)
      return { status: 413, body: { error: { code: 'ContentLengthLimitExceeded' } } }
    const batch: unknown = JSON.parse(text)
    if (!Array.isArray(batch) || !batch.every(isRecord)) return { status: 400 }
    const times = batch.map(({ EventTime }) => Date.parse(String(EventTime)))
    assert.ok(Math.max(...times) - Math.min(...times) < 30 * 60_000)
    for (const row of batch) {
      assert.deepEqual(
        Object.keys(row).filter((name) => !columns.includes(name)),
        [],
        'would be ignored in silence',
      )
      assert.ok(
        Object.values(row).every((value) => Buffer.byteLength(JSON.stringify(value)) <= 64 * 1024),
        'would be cut in silence',
      )
    }
    rows.push(...batch)
    return { status: 204 }
  }
}

async function open(t: TestContext, rules: Rules = {}, { change = {}, nowMs = testTimeMs } = {}) {
  const rows: Record<string, unknown>[] = []
  const issued = new Set<string>()
  const authority = await startReceiver(t, login(rules, issued))
  const receiver = await startReceiver(t, ingestion(rules, issued, rows))
  const routes = {
    'login.microsoftonline.com': authority.origin,
    'gateway-x1.westeurope-1.ingest.monitor.azure.com': receiver.origin,
  }
  const clock = jumpingClock(nowMs)
  const sink = azureMonitor.open({ ...config, ...change }, sinkParts(t, { routes, clock }))
  return { sink, rows, authority, receiver, issued, clock }
}

describe('azure_monitor', () => {
  it('sends the declared columns, one of them with the whole document', async (t) => {
    const { sink, rows } = await open(t)
    const [document] = auditDocuments({ count: 1 })
    assert.ok(document)
    assert.deepEqual(tally(await sink.deliver([document], signal)), { delivered: 1 })
    const time = new Date(testTimeMs).toISOString()
    assert.deepEqual(rows, [
      {
        TimeGenerated: time,
        EventTime: time,
        EventId: 'evt_000000',
        OrgId: 'org_1',
        Sequence: 1,
        EventCode: 'gateway.request.decided',
        Decision: 'refuse',
        ReasonCode: 'REFUSE_LEGAL',
        PolicyId: 'pol_1',
        PolicyVersion: '3',
        ActorUserId: 'ada',
        ProjectId: 'proj_1',
        Model: 'default-model',
        SeverityId: 3,
        IsLate: false,
        Event: document,
      },
    ])
  })

  it('requests one token and renews it five minutes before it expires', async (t) => {
    const { sink, authority, clock } = await open(t)
    const [first, second, third] = auditDocuments({ count: 3 })
    assert.ok(first && second && third)
    await sink.deliver([first], signal)
    clock.after(54 * 60_000, () => {})
    await sink.deliver([second], signal)
    assert.equal(authority.requests.length, 1)
    clock.after(60_000, () => {})
    await sink.deliver([third], signal)
    assert.equal(authority.requests.length, 2)
  })

  it('requests a new token once if the old one was revoked', async (t) => {
    const { sink, issued, authority } = await open(t)
    const [first, second] = auditDocuments({ count: 2 })
    assert.ok(first && second)
    await sink.deliver([first], signal)
    issued.delete('token-0')
    issued.add('filler')
    assert.deepEqual(tally(await sink.deliver([second], signal)), { delivered: 1 })
    assert.equal(authority.requests.length, 2)
  })

  it('limits a call to one megabyte and half an hour', async (t) => {
    const { sink, rows, receiver } = await open(t)
    const batch = auditDocuments({ count: 100, stepMs: 60_000, promptLength: 20_000 })
    assert.deepEqual(tally(await sink.deliver(batch, signal)), { delivered: 100 })
    assert.equal(rows.length, 100)
    assert.ok(receiver.requests.length >= 4)
  })

  it('truncates a document that does not fit its column, and marks it', async (t) => {
    const { sink, rows } = await open(t)
    await sink.deliver(auditDocuments({ count: 1, promptLength: 200_000 }), signal)
    const { Event: event } = rows[0] ?? {}
    assert.ok(isRecord(event) && isRecord(event.metadata))
    assert.equal(event.metadata.is_truncated, true)
    assert.ok(Number(event.metadata.untruncated_size) > 200_000)
  })

  it('sets TimeGenerated only if Azure accepts it, and EventTime always', async (t) => {
    const cases: [number, boolean][] = [
      [47 * hour, false],
      [48 * hour, true],
      [-23 * hour, false],
      [-24 * hour, true],
    ]
    for (const [sinceMs, late] of cases) {
      const { sink, rows } = await open(t, {}, { nowMs: testTimeMs + sinceMs })
      await sink.deliver(auditDocuments({ count: 1 }), signal)
      assert.equal('TimeGenerated' in (rows[0] ?? {}), !late)
      assert.deepEqual([rows[0]?.IsLate, rows[0]?.EventTime], [late, new Date(testTimeMs).toISOString()])
    }
  })

  it('pauses on a wrong secret, and detects the id of a secret in its place', async (t) => {
    const { sink } = await open(t, {}, { change: { client_secret: config.client_id } })
    const [outcome] = await sink.deliver(auditDocuments({ count: 1 }), signal)
    assert.deepEqual(outcome, {
      kind: 'pause',
      state: 'auth_error',
      reason:
        "Microsoft's login answered 401 (invalid_client). client_secret looks like the id of a secret: its value is needed.",
    })
  })

  it('pauses on a missing role and on a stream that is not declared, with a hint', async (t) => {
    const role = await open(t, { ingest: () => ({ status: 403, body: { error: { code: 'OperationFailed' } } }) })
    const [first] = await role.sink.deliver(auditDocuments({ count: 1 }), signal)
    assert.match(first?.kind === 'pause' ? first.reason : '', /Monitoring Metrics Publisher/)
    const stream = await open(t, {}, { change: { stream_name: 'Custom-Gatehouse_CL' } })
    const [second] = await stream.sink.deliver(auditDocuments({ count: 1 }), signal)
    assert.match(second?.kind === 'pause' && second.state === 'config_error' ? second.reason : '', /name of a table/)
    assert.ok(!JSON.stringify([first, second]).includes('SECRET'))
  })

  it('retries if the service or the login is busy', async (t) => {
    const busy: Reply = { status: 429, headers: { 'retry-after': '60' } }
    for (const rules of [{ ingest: () => busy }, { login: () => busy }]) {
      const { sink } = await open(t, rules)
      const [outcome] = await sink.deliver(auditDocuments({ count: 2 }), signal)
      assert.deepEqual(outcome?.kind === 'retry' && outcome.retryAfterMs, 60_000)
    }
  })
})
