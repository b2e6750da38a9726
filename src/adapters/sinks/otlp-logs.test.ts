import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { auditDocuments, testTimeMs } from '../../../test/support/audit-documents.ts'
import { startReceiver, type Received, type Reply } from '../../../test/support/receiver.ts'
import { sinkParts, tally } from '../../../test/support/sink-parts.ts'
import { isRecord } from '../../base/record.ts'
import { otlpLogs } from './otlp-logs.ts'

const signal = new AbortController().signal

type Rules = { readonly isRejected?: (id: string) => boolean; readonly failure?: () => Reply | undefined }

/** A collector that decodes protobuf's JSON strictly, rejects single records, and reports only their number. */
function collector({ isRejected, failure }: Rules, bodies: unknown[]) {
  return (received: Received): Reply => {
    const reply = failure?.()
    if (reply) return reply
    if (received.target !== '/otlp/v1/logs') return { status: 404 }
    if (received.headers['api-key'] !== 'k') return { status: 401 }
    if (received.headers['content-type'] !== 'application/json') return { status: 415 }
    const records: Record<string, unknown>[] = JSON.parse(received.text).resourceLogs.flatMap(
      (resource: { scopeLogs: { logRecords: unknown[] }[] }) =>
        resource.scopeLogs.flatMap(({ logRecords }) => logRecords),
    )
    for (const record of records) {
      assert.match(String(record.timeUnixNano), /^\d{19}$/)
      assert.ok(Number.isInteger(record.severityNumber))
    }
    const good = records.filter((record) => !isRejected?.(idOf(record)))
    bodies.push(...good.map(({ body }) => decoded(body)))
    const rejected = records.length - good.length
    const partialSuccess = { rejectedLogRecords: String(rejected), errorMessage: 'SECRET' }
    return { status: 200, body: rejected > 0 ? { partialSuccess } : {} }
  }
}

/** OTLP's AnyValue as JSON; fails on anything else. */
function decoded(value: unknown): unknown {
  assert.ok(isRecord(value))
  const [[kind, inner] = ['null', null], ...rest] = Object.entries(value)
  assert.deepEqual(rest, [])
  if (kind === 'null') return null
  if (kind === 'intValue') return typeof inner === 'string' ? Number(inner) : assert.fail('an int64 is a string')
  if (kind === 'arrayValue')
    return isRecord(inner) && Array.isArray(inner.values) ? inner.values.map(decoded) : assert.fail()
  if (kind !== 'kvlistValue') return inner
  assert.ok(isRecord(inner) && Array.isArray(inner.values))
  return Object.fromEntries(inner.values.map(({ key, value: member }) => [key, decoded(member)]))
}

const idOf = (record: Record<string, unknown>): string => {
  const list: { key: string; value: { stringValue: string } }[] = Array.isArray(record.attributes)
    ? record.attributes
    : []
  return list.find(({ key }) => key === 'event.id')?.value.stringValue ?? ''
}

async function open(t: TestContext, rules: Rules = {}, path = '/otlp') {
  const bodies: unknown[] = []
  const receiver = await startReceiver(t, collector(rules, bodies))
  const config = { url: receiver.origin + path, auth: { header: 'Api-Key', value: 'k' } }
  return { sink: otlpLogs.open(config, sinkParts(t)), bodies, receiver }
}

describe('otlp_logs', () => {
  it('sends the whole document in OTLP’s format', async (t) => {
    const { sink, bodies, receiver } = await open(t)
    const batch = auditDocuments({ count: 2 })
    assert.deepEqual(tally(await sink.deliver(batch, signal)), { delivered: 2 })
    assert.deepEqual(bodies, batch)
    const [{ resource, scopeLogs }] = JSON.parse(receiver.requests[0]?.text ?? '').resourceLogs
    assert.deepEqual(resource.attributes[0], { key: 'service.name', value: { stringValue: 'gatehouse' } })
    const [record] = scopeLogs[0].logRecords
    assert.equal(record.timeUnixNano, `${testTimeMs}000000`)
    assert.equal(record.eventName, 'gatehouse.gateway.request.decided')
    assert.equal(record.severityNumber, 13)
    assert.equal(receiver.requests[0]?.headers['content-encoding'], 'gzip')
  })

  it('does not append the path twice', async (t) => {
    for (const path of ['/otlp/', '/otlp/v1/logs', '/otlp/v1/logs/']) {
      const { sink } = await open(t, {}, path)
      assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 1 }), signal)), { delivered: 1 })
    }
  })

  it('finds the records that a collector rejected without naming them', async (t) => {
    const rejected = ['evt_000002', 'evt_000009']
    const { sink, bodies } = await open(t, { isRejected: (id) => rejected.includes(id) })
    const outcomes = await sink.deliver(auditDocuments({ count: 12 }), signal)
    assert.deepEqual(tally(outcomes), { delivered: 10, reject: 2 })
    assert.deepEqual([outcomes[2]?.kind, outcomes[9]?.kind], ['reject', 'reject'])
    assert.ok(bodies.length >= 10)
    assert.ok(!JSON.stringify(outcomes).includes('SECRET'))
  })

  it('retries if the collector is overloaded, and pauses if it rejects the key', async (t) => {
    const cases: [number, string][] = [
      [429, 'retry'],
      [502, 'retry'],
      [503, 'retry'],
      [504, 'retry'],
      [401, 'auth_error'],
      [403, 'auth_error'],
      [404, 'config_error'],
    ]
    for (const [status, expected] of cases) {
      const { sink } = await open(t, { failure: () => ({ status }) })
      const [outcome] = await sink.deliver(auditDocuments({ count: 1 }), signal)
      assert.equal(outcome?.kind === 'pause' ? outcome.state : outcome?.kind, expected)
    }
  })
})
