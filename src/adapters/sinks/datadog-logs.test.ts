import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { auditDocuments, testTimeMs } from '../../../test/support/audit-documents.ts'
import { startReceiver, type Received, type Reply } from '../../../test/support/receiver.ts'
import { jumpingClock, sinkParts, tally } from '../../../test/support/sink-parts.ts'
import { isRecord } from '../../base/record.ts'
import { datadogLogs } from './datadog-logs.ts'

const apiKey = '0123456789abcdef0123456789abcdef'
const hour = 3_600_000
const signal = new AbortController().signal

type Rules = {
  readonly isPoison?: (log: Record<string, unknown>) => boolean
  readonly failure?: () => Reply | undefined
}

/** Datadog's intake: 5 MB, 1,000 logs, JSON array; it truncates longer logs silently. */
function intake({ isPoison, failure }: Rules, logs: Record<string, unknown>[]) {
  return (received: Received): Reply => {
    const reply = failure?.()
    if (reply) return reply
    if (received.target !== '/api/v2/logs') return { status: 404 }
    const key = received.headers['dd-api-key']
    if (key === undefined) return { status: 401 }
    if (key !== apiKey) return { status: 403, body: { errors: [{ status: '403', title: 'Forbidden' }] } }
    if (Buffer.byteLength(received.text) > 5_000_000) return { status: 413 }
    const batch: unknown = JSON.parse(received.text)
    if (!Array.isArray(batch) || !batch.every(isRecord)) return { status: 400 }
    if (batch.length > 1_000) return { status: 413 }
    if (batch.some((log) => isPoison?.(log))) return { status: 400 }
    if (batch.some((log) => Buffer.byteLength(JSON.stringify(log)) > 1_000_000)) assert.fail('would be cut in silence')
    logs.push(...batch)
    return { status: 202, body: {} }
  }
}

async function open(t: TestContext, rules: Rules = {}, { config = {}, nowMs = testTimeMs } = {}) {
  const logs: Record<string, unknown>[] = []
  const receiver = await startReceiver(t, intake(rules, logs))
  const routes = { 'http-intake.logs.datadoghq.eu': receiver.origin }
  const sink = datadogLogs.open(
    { site: 'datadoghq.eu', api_key: apiKey, ...config },
    sinkParts(t, { routes, clock: jumpingClock(nowMs) }),
  )
  return { sink, logs, receiver }
}

describe('datadog_logs', () => {
  it('sends the document at the root, with the reserved attributes', async (t) => {
    const { sink, logs, receiver } = await open(t, {}, { config: { tags: ['env:prod'], service: 'gw' } })
    const [document] = auditDocuments({ count: 1 })
    assert.ok(document)
    await sink.deliver([document], signal)
    assert.deepEqual(logs, [
      {
        ...document,
        ddsource: 'gatehouse',
        ddtags: 'org:org_1,decision:refuse,env:prod',
        hostname: 'gateway-1',
        service: 'gw',
        status: 'warn',
        event_id: 'evt_000000',
        event_time: new Date(testTimeMs).toISOString(),
        timestamp: testTimeMs,
      },
    ])
    assert.equal(receiver.requests[0]?.headers['content-encoding'], 'gzip')
  })

  it('sends at most a thousand logs in a request', async (t) => {
    const { sink, logs, receiver } = await open(t)
    assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 1_001 }), signal)), { delivered: 1_001 })
    assert.equal(receiver.requests.length, 2)
    assert.equal(logs.length, 1_001)
  })

  it('sends at most four megabytes in a request, and marks truncated events', async (t) => {
    const { sink, logs, receiver } = await open(t)
    await sink.deliver(auditDocuments({ count: 80, promptLength: 100_000 }), signal)
    assert.ok(receiver.requests.every(({ text }) => text.length <= 4_000_100))
    assert.equal(logs.length, 80)
    assert.ok(
      logs.every(
        ({ metadata }) =>
          isRecord(metadata) && metadata.is_truncated === true && Number(metadata.untruncated_size) > 100_000,
      ),
    )
  })

  it('sends the timestamp only if Datadog accepts it, and marks the event late otherwise', async (t) => {
    const cases: [number, boolean][] = [
      [testTimeMs + 17.8 * hour, false],
      [testTimeMs + 18 * hour, true],
      [testTimeMs + 100 * hour, true],
      [testTimeMs - 1.8 * hour, false],
      [testTimeMs - 2 * hour, true],
    ]
    for (const [nowMs, late] of cases) {
      const { sink, logs } = await open(t, {}, { nowMs })
      await sink.deliver(auditDocuments({ count: 1 }), signal)
      assert.equal(logs[0]?.timestamp, late ? undefined : testTimeMs)
      assert.equal(logs[0]?.late, late ? true : undefined)
      assert.equal(logs[0]?.event_time, new Date(testTimeMs).toISOString())
    }
  })

  it('finds one bad log among a thousand by splitting', async (t) => {
    const { sink, logs, receiver } = await open(t, { isPoison: (log) => log.event_id === 'evt_000617' })
    const outcomes = await sink.deliver(auditDocuments({ count: 1_000 }), signal)
    assert.deepEqual(tally(outcomes), { delivered: 999, reject: 1 })
    assert.equal(outcomes[617]?.kind, 'reject')
    assert.equal(new Set(logs.map((log) => log.event_id)).size, 999)
    assert.ok(receiver.requests.length <= 21)
  })

  it('pauses on a rejected key', async (t) => {
    const { sink } = await open(t, {}, { config: { api_key: 'ffff' } })
    assert.deepEqual(await sink.deliver(auditDocuments({ count: 1 }), signal), [
      { kind: 'pause', state: 'auth_error', reason: 'Datadog answered 403. The credential is not accepted.' },
    ])
  })

  for (const status of [408, 429, 500, 503]) {
    it(`retries after ${status}`, async (t) => {
      const { sink } = await open(t, {
        failure: () => ({ status, headers: { 'retry-after': new Date(testTimeMs + 30_000).toUTCString() } }),
      })
      const [outcome] = await sink.deliver(auditDocuments({ count: 1 }), signal)
      assert.equal(outcome?.kind, 'retry')
      const waitMs = outcome?.kind === 'retry' ? (outcome.retryAfterMs ?? 0) : 0
      assert.ok(waitMs > 29_000 && waitMs <= 30_000, `${waitMs}`)
    })
  }
})
