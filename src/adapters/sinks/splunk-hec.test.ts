import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { auditDocuments, testTimeMs } from '../../../test/support/audit-documents.ts'
import { startReceiver, type Handler, type Received, type Reply } from '../../../test/support/receiver.ts'
import { jumpingClock, sinkParts, tally, type TestClock } from '../../../test/support/sink-parts.ts'
import type { Sink } from '../../domain/audit/export/sink.ts'
import { isRecord } from '../../base/record.ts'
import { splunkHec } from './splunk-hec.ts'

const token = '0b1ac2b5-0000-4000-8000-6e6f74207265'
const signal = new AbortController().signal

type Collector = {
  readonly indexed: unknown[]
  /** Number of queries for acknowledgements. */
  polls: number
}

type Rules = {
  readonly maxBytes?: number
  readonly isPoison?: (event: Record<string, unknown>) => boolean
  readonly indexes?: readonly string[]
  readonly withAck?: boolean
  readonly acksAfterPolls?: number
  readonly isAcknowledged?: (id: number) => boolean
  /** Replaces the collector's reply while it returns one. */
  readonly failure?: () => Reply | undefined
}

const replyOf = (status: number, code: number, more: object = {}): Reply => ({
  status,
  body: { text: '…', code, ...more },
})

/** Splunk's event collector as documented: order of checks, codes, and the number of the bad event. */
function collector(rules: Rules): { readonly state: Collector; readonly handle: Handler } {
  const state: Collector = { indexed: [], polls: 0 }
  let ackId = 0
  const handle = (received: Received): Reply => {
    const failure = rules.failure?.()
    if (failure) return failure
    const { authorization } = received.headers
    if (authorization === undefined) return replyOf(401, 2)
    if (!authorization.startsWith('Splunk ')) return replyOf(401, 3)
    if (authorization !== `Splunk ${token}`) return replyOf(403, 4)
    if (received.target.startsWith('/services/collector/ack?')) return acks(received)
    if (received.target !== '/services/collector/event') return { status: 404 }
    if (received.raw.length > (rules.maxBytes ?? 1_000_000)) return { status: 413 }
    if (rules.withAck) {
      const channel = received.headers['x-splunk-request-channel']
      if (channel === undefined) return replyOf(400, 10)
      if (!isUuid(String(channel))) return replyOf(400, 11)
    }
    return take(received.text)
  }
  const take = (text: string): Reply => {
    if (text === '') return replyOf(400, 5)
    const events = text.split('\n').map((line): unknown => JSON.parse(line))
    for (const [at, event] of events.entries()) {
      const code = problemOf(event)
      if (code !== undefined) return replyOf(400, code, { 'invalid-event-number': code === 7 ? at + 1 : at })
    }
    state.indexed.push(...events)
    return replyOf(200, 0, rules.withAck ? { ackId: ackId++ } : {})
  }
  const problemOf = (event: unknown): number | undefined => {
    if (!isRecord(event)) return 6
    if (!('event' in event)) return 12
    if (event.event === '') return 13
    if (!isRecord(event.fields) || !Object.values(event.fields).every((value) => typeof value === 'string')) return 15
    if (String(event.time).includes('e') || rules.isPoison?.(event)) return 6
    return rules.indexes && !rules.indexes.includes(String(event.index)) ? 7 : undefined
  }
  const acks = ({ target, text }: Received): Reply => {
    if (!rules.withAck) return replyOf(400, 14)
    assert.ok(isUuid(target.split('channel=')[1] ?? ''))
    state.polls++
    const ids: number[] = JSON.parse(text).acks
    const isIndexed = state.polls > (rules.acksAfterPolls ?? 0)
    const isAcknowledged = rules.isAcknowledged ?? (() => isIndexed)
    return { status: 200, body: { acks: Object.fromEntries(ids.map((id) => [id, isAcknowledged(id)])) } }
  }
  return { state, handle }
}

const isUuid = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(text)

async function open(t: TestContext, rules: Rules, config: object = {}) {
  const { state, handle } = collector(rules)
  const receiver = await startReceiver(t, handle)
  const clock: TestClock = jumpingClock()
  const sink: Sink = splunkHec.open({ url: receiver.origin, token, ...config }, sinkParts(t, { clock }))
  return { sink, state, receiver, clock }
}

describe('splunk_hec', () => {
  it('sends each event in its envelope, time in seconds, indexed fields as strings', async (t) => {
    const { sink, state } = await open(t, {}, { index: 'audit', source: 'gw' })
    const [document] = auditDocuments({ count: 1 })
    assert.ok(document)
    assert.deepEqual(await sink.deliver([document], signal), [{ kind: 'delivered' }])
    assert.deepEqual(state.indexed, [
      {
        time: testTimeMs / 1000,
        host: 'gateway-1',
        source: 'gw',
        sourcetype: 'gatehouse:audit',
        index: 'audit',
        event: document,
        fields: {
          event_id: 'evt_000000',
          org_id: 'org_1',
          decision: 'refuse',
          reason_code: 'REFUSE_LEGAL',
          policy_id: 'pol_1',
        },
      },
    ])
  })

  it('compresses unless compression is off', async (t) => {
    for (const [compression, encoding] of [
      ['gzip', 'gzip'],
      ['none', undefined],
    ] as const) {
      const { sink, receiver } = await open(t, {}, { compression })
      await sink.deliver(auditDocuments({ count: 3 }), signal)
      assert.equal(receiver.requests[0]?.headers['content-encoding'], encoding)
    }
  })

  it('limits a request to one megabyte before compression, in order', async (t) => {
    const { sink, state, receiver } = await open(t, {})
    const batch = auditDocuments({ count: 60, promptLength: 50_000 })
    assert.deepEqual(tally(await sink.deliver(batch, signal)), { delivered: 60 })
    assert.ok(receiver.requests.every(({ text }) => text.length <= 1_000_000))
    assert.equal(receiver.requests.length, 4)
    assert.deepEqual(
      state.indexed.map(idOf),
      batch.map(({ metadata }) => metadata.uid),
    )
  })

  it('splits a request that the server rejects with 413', async (t) => {
    const { sink, state } = await open(t, { maxBytes: 20_000 }, { compression: 'none' })
    assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 40 }), signal)), { delivered: 40 })
    assert.equal(state.indexed.length, 40)
  })

  it('rejects only the event that Splunk names, and sends the others', async (t) => {
    const poison = ['evt_000003', 'evt_000007']
    const { sink, state } = await open(t, { isPoison: (event) => poison.includes(idOf(event)) })
    const outcomes = await sink.deliver(auditDocuments({ count: 10 }), signal)
    assert.deepEqual(tally(outcomes), { delivered: 8, reject: 2 })
    assert.deepEqual(outcomes[3], {
      kind: 'reject',
      reason: 'Splunk answered 400, code 6: the data format is invalid.',
    })
    assert.deepEqual(
      state.indexed.map(idOf).filter((id) => poison.includes(id)),
      [],
    )
    assert.equal(new Set(state.indexed.map(idOf)).size, 8)
  })

  it('pauses on a rejected credential, and drops nothing', async (t) => {
    const { sink } = await open(t, {}, { token: 'wrong' })
    const outcomes = await sink.deliver(auditDocuments({ count: 2 }), signal)
    const pause = { kind: 'pause', state: 'auth_error', reason: 'Splunk answered 403, code 4: the token is invalid.' }
    assert.deepEqual(outcomes, [pause, pause])
  })

  it('pauses on an index that does not exist, because the configuration is wrong, not the event', async (t) => {
    const { sink } = await open(t, { indexes: ['main'] }, { index: 'nope' })
    const [outcome] = await sink.deliver(auditDocuments({ count: 3 }), signal)
    assert.deepEqual(outcome, {
      kind: 'pause',
      state: 'config_error',
      reason: 'Splunk answered 400, code 7: the index is incorrect.',
    })
  })

  it('retries when the server is busy, after the delay that it requests', async (t) => {
    const { sink } = await open(t, { failure: () => ({ ...replyOf(503, 9), headers: { 'retry-after': '17' } }) })
    const [outcome] = await sink.deliver(auditDocuments({ count: 1 }), signal)
    assert.deepEqual(outcome, {
      kind: 'retry',
      reason: 'Splunk answered 503, code 9: the server is busy.',
      retryAfterMs: 17_000,
    })
  })

  it('retries on unknown codes and on a broken connection', async (t) => {
    const replies = [replyOf(503, 77), { status: 429 }, { status: 500, body: 'not json' }, undefined]
    for (const reply of replies) {
      const { sink } = await open(t, { failure: () => reply ?? assert.fail('cut') })
      assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 2 }), signal)), { retry: 2 })
    }
  })

  it('never shows a text of the server', async (t) => {
    const { sink } = await open(t, { failure: () => ({ status: 400, body: { text: 'SECRET', code: 6 } }) })
    const outcomes = await sink.deliver(auditDocuments({ count: 1 }), signal)
    assert.ok(!JSON.stringify(outcomes).includes('SECRET'))
  })
})

describe('splunk_hec with acknowledgement', () => {
  it('counts an event as delivered only once it is acknowledged', async (t) => {
    const { sink, state, clock } = await open(t, { withAck: true, acksAfterPolls: 4 }, { use_ack: true })
    assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 2 }), signal)), { delivered: 2 })
    assert.equal(state.polls, 5)
    assert.deepEqual(clock.waits, [250, 500, 1_000, 2_000, 4_000])
  })

  it('sends the next request without waiting for an acknowledgement, and queries all of them together', async (t) => {
    const { sink, state, receiver } = await open(t, { withAck: true, acksAfterPolls: 2 }, { use_ack: true })
    const batch = auditDocuments({ count: 60, promptLength: 50_000 })
    assert.ok(sink.goal.bytes >= 4_000_000)
    assert.deepEqual(tally(await sink.deliver(batch, signal)), { delivered: 60 })
    assert.deepEqual(
      state.indexed.map(idOf),
      batch.map(({ metadata }) => metadata.uid),
    )
    const [event, ack] = ['/services/collector/event', '/services/collector/ack']
    assert.deepEqual(
      receiver.requests.map(({ target }) => target.split('?')[0]),
      [event, event, event, event, ack, ack, ack],
    )
    assert.deepEqual(JSON.parse(receiver.requests.at(-1)?.text ?? ''), { acks: [0, 1, 2, 3] })
  })

  it('stops before the first request without an acknowledgement', async (t) => {
    const { sink } = await open(t, { withAck: true, isAcknowledged: (id) => id !== 1 }, { use_ack: true })
    const outcomes = await sink.deliver(auditDocuments({ count: 60, promptLength: 50_000 }), signal)
    const first = outcomes.findIndex(({ kind }) => kind === 'retry')
    assert.ok(first > 0 && outcomes.slice(0, first).every(({ kind }) => kind === 'delivered'))
    assert.equal(outcomes.at(-1)?.kind, 'delivered')
  })

  it('retries events without an acknowledgement after five minutes', async (t) => {
    const { sink, clock } = await open(t, { withAck: true, acksAfterPolls: Infinity }, { use_ack: true })
    assert.deepEqual(tally(await sink.deliver(auditDocuments({ count: 2 }), signal)), { retry: 2 })
    assert.ok(clock.waits.reduce((sum, wait) => sum + wait) >= 300_000)
    assert.ok(Math.max(...clock.waits) <= 10_000)
  })

  it('pauses if the token has no acknowledgement', async (t) => {
    const { sink } = await open(t, {}, { use_ack: true })
    const [outcome] = await sink.deliver(auditDocuments({ count: 1 }), signal)
    assert.equal(outcome?.kind === 'pause' && outcome.state, 'config_error')
  })

  it('stops waiting when the signal aborts', async (t) => {
    const controller = new AbortController()
    const { sink } = await open(
      t,
      { withAck: true, acksAfterPolls: Infinity, failure: stopAfter(3, controller) },
      { use_ack: true },
    )
    await assert.rejects(sink.deliver(auditDocuments({ count: 1 }), controller.signal), /stopping/)
  })
})

function stopAfter(requests: number, controller: AbortController): () => undefined {
  let seen = 0
  return () => {
    if (++seen === requests) controller.abort(new Error('stopping'))
  }
}

function idOf(event: unknown): string {
  return isRecord(event) && isRecord(event.fields) ? String(event.fields.event_id) : ''
}
