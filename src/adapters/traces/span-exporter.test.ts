import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import { spansIn } from '../../../test/support/otlp-receiver.ts'
import { Unreachable, type OutgoingRequest, type ReceivedResponse } from '../network/request.ts'
import type { TraceSpan } from './span.ts'
import { createSpanExporter, type SpanResult } from './span-exporter.ts'

const span = (name: string): TraceSpan => ({
  context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true },
  name,
  kind: 'internal',
  startUs: 1_790_000_000_000_001,
  endUs: 1_790_000_000_000_002,
  attributes: { count: 3, text: 'x', flag: true, missing: undefined },
  doubles: { seconds: 2 },
})

const accepted: ReceivedResponse = { status: 200, headers: {}, body: Buffer.from('{}') }
const answeredWith = (status: number): ReceivedResponse => ({ ...accepted, status })

/** An exporter whose collector answers as `answer` says, and what became of its spans. */
function openScene(answer: (outgoing: OutgoingRequest) => Promise<ReceivedResponse> | ReceivedResponse) {
  const requests: OutgoingRequest[] = []
  const results = new Map<SpanResult, number>()
  const { clock, advance } = createHandClock()
  const exporter = createSpanExporter(
    {
      url: new URL('http://collector:4318/v1/traces'),
      headers: () => ({ authorization: 'Bearer t' }),
      compression: 'none',
      timeoutMs: 10_000,
      resource: { 'service.name': 'gatehouse' },
      version: '1.0.0',
    },
    {
      async request(outgoing) {
        requests.push(outgoing)
        return answer(outgoing)
      },
      clock,
      onResult: (result, count) => void results.set(result, (results.get(result) ?? 0) + count),
    },
  )
  const names = (): string[] => requests.flatMap(({ body }) => spansIn({ text: String(body) }).map(({ name }) => name))
  return { exporter, requests, results, names, advance }
}

describe('the exporter of spans', () => {
  it('sends queued traces in one request, in OTLP’s JSON', async () => {
    const { exporter, requests, results } = openScene(() => accepted)
    exporter.add([span('one'), span('two')])
    exporter.add([span('three')])
    await exporter.flush()
    assert.equal(requests.length, 1)
    assert.equal(requests[0]?.headers?.['authorization'], 'Bearer t')
    assert.equal(requests[0]?.headers?.['content-type'], 'application/json')
    const [first, ...others] = spansIn({ text: String(requests[0]?.body) })
    assert.deepEqual(first?.attributes, { count: 3, text: 'x', flag: true, seconds: 2 })
    assert.deepEqual([first?.startNs, first?.endNs], [1_790_000_000_000_001_000n, 1_790_000_000_000_002_000n])
    assert.equal(others.length, 2)
    assert.match(String(requests[0]?.body), /"key":"seconds","value":\{"doubleValue":2\}/)
    assert.deepEqual([...results], [['sent', 3]])
  })

  it('keeps spans that the collector may take later', async () => {
    const statuses = [503, 200]
    const { exporter, results, names } = openScene(() => answeredWith(statuses.shift() ?? 200))
    exporter.add([span('one')])
    await assert.rejects(exporter.flush(), /The collector answered with status 503/)
    assert.deepEqual([...results], [])
    await exporter.flush()
    assert.deepEqual(names(), ['one', 'one'])
    assert.deepEqual([...results], [['sent', 1]])
  })

  it('finds the trace that always fails, drops it and sends the others', async () => {
    const { exporter, results } = openScene(({ body }) => answeredWith(String(body).includes('bad') ? 503 : 200))
    for (let at = 0; at < 100; at++) exporter.add([span(at === 70 ? 'bad' : 'good')])
    await assert.rejects(exporter.flush())
    assert.deepEqual([...results], [])
    for (let attempt = 0; attempt < 50; attempt++) await exporter.flush().catch(() => undefined)
    assert.deepEqual(Object.fromEntries(results), { sent: 99, rejected: 1 })
  })

  it('sends a full batch again after it dropped the trace that always fails', async () => {
    const { exporter, requests } = openScene(({ body }) => answeredWith(String(body).includes('bad') ? 503 : 200))
    exporter.add([span('bad')])
    for (let at = 0; at < 9; at++) exporter.add([span('good')])
    for (let attempt = 0; attempt < 50; attempt++) await exporter.flush().catch(() => undefined)
    const before = requests.length
    for (let at = 0; at < 10; at++) exporter.add([span('good')])
    await exporter.flush()
    assert.equal(requests.length, before + 1)
  })

  it('keeps all spans while there is no connection to the collector', async () => {
    let isDown = true
    const { exporter, results } = openScene(() => {
      if (!isDown) return accepted
      throw new Unreachable(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))
    })
    exporter.add([span('one')])
    exporter.add([span('two')])
    for (let attempt = 0; attempt < 50; attempt++) await assert.rejects(exporter.flush())
    isDown = false
    await exporter.flush()
    assert.deepEqual(Object.fromEntries(results), { sent: 2 })
  })

  it('names the reason if the collector cannot be reached', async () => {
    const { exporter } = openScene(() => {
      throw new Unreachable(new Error('connect ECONNREFUSED'))
    })
    exporter.add([span('one')])
    await assert.rejects(exporter.flush(), /The collector at collector:4318 could not be reached: connect ECONNREFUSED/)
  })

  it('drops spans that the collector rejects', async () => {
    const { exporter, results } = openScene(() => answeredWith(400))
    exporter.add([span('one')])
    await assert.rejects(exporter.flush(), /status 400/)
    assert.deepEqual([...results], [['rejected', 1]])
    await exporter.flush()
  })

  it('counts the spans of an accepted request that the collector rejected', async () => {
    const body = Buffer.from('{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too old"}}')
    const { exporter, results } = openScene(() => ({ ...accepted, body }))
    exporter.add([span('one'), span('two')])
    await exporter.flush()
    assert.deepEqual(Object.fromEntries(results), { rejected: 1, sent: 1 })
  })

  for (const [answered, expected] of [
    ['"7"', { rejected: 2 }],
    ['-1', { sent: 2 }],
    ['0.5', { sent: 2 }],
    ['1e300', { sent: 2 }],
  ] as const)
    it(`counts no more spans than it sent, and no part of one, if the collector rejected ${answered}`, async () => {
      const body = Buffer.from(`{"partialSuccess":{"rejectedSpans":${answered}}}`)
      const { exporter, results } = openScene(() => ({ ...accepted, body }))
      exporter.add([span('one'), span('two')])
      await exporter.flush()
      assert.deepEqual(Object.fromEntries(results), expected)
    })

  it('drops new spans and counts them while the queue is full', async () => {
    const { exporter, results, names } = openScene(() => answeredWith(503))
    const trace = Array.from({ length: 100 }, () => span('one'))
    for (let count = 0; count < 100; count++) exporter.add(trace)
    await assert.rejects(exporter.flush())
    assert.deepEqual([...results], [['queue_full', 1_900]])
    assert.ok(names().length <= 1_024)
  })

  it('sends a full batch without waiting for the job, but not after a failure', async () => {
    const statuses = [200, 503]
    const { exporter, requests, results } = openScene(() => answeredWith(statuses.shift() ?? 503))
    const batch = Array.from({ length: 512 }, () => span('one'))
    exporter.add(batch)
    await exporter.flush()
    assert.deepEqual([requests.length, results.get('sent')], [1, 512])
    exporter.add(batch)
    await assert.rejects(exporter.flush())
    exporter.add(batch)
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(requests.length, 2)
  })

  it('gives up a call after its timeout', async () => {
    const { exporter, advance, requests } = openScene(untilAborted)
    exporter.add([span('one')])
    const flushed = assert.rejects(exporter.flush(), /did not answer within 10000 ms/)
    while (requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
    advance(10_000)
    await flushed
  })

  it('sends the rest at shutdown, and waits for no longer than five seconds', async () => {
    const quick = openScene(() => accepted)
    quick.exporter.add([span('one')])
    await quick.exporter[Symbol.asyncDispose]()
    assert.deepEqual([...quick.results], [['sent', 1]])

    const { exporter, advance, requests, results } = openScene(untilAborted)
    exporter.add([span('one')])
    const closed = exporter[Symbol.asyncDispose]()
    while (requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
    advance(5_000)
    await closed
    assert.deepEqual([...results], [['lost_at_shutdown', 1]])
  })
})

/** A collector that never answers. */
const untilAborted = ({ signal }: OutgoingRequest): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
