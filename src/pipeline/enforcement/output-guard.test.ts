import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { holdBackPolicyOf } from '../../../test/support/policy-prefilter.ts'
import { plainContext } from '../../../test/support/evaluation-context.ts'
import {
  evaluateWithoutCache,
  noPause,
  poisonClassifier,
  responseOf,
  rulebookWith,
  streamOf,
  textIn,
  usageOf,
} from '../../../test/support/enforcement-scene.ts'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import { RequestTiming } from '../../domain/audit/event/request-timing.ts'
import { planFor } from '../../domain/evaluation/plan.ts'
import type { Decision } from '../../domain/evaluation/verdict/combine.ts'
import type { GatewayConfiguration } from '../../domain/gateway-config/configuration.ts'
import type { Chunk, InferenceEvent } from '../../domain/inference/events.ts'
import { createIdleTimers } from './idle-timer.ts'
import { guardOutput } from './output-guard.ts'

const clean = 'The gate of the old town was open all day. '

/** A guarded response under these rules, whose clock the test moves. */
function createScene(rules: Partial<GatewayConfiguration['rules']>, rephrased?: string) {
  const { clock, pass } = createHandClock()
  const plan = planFor(rulebookWith(rules), plainContext)
  const concluded: (readonly Decision[])[] = []
  const timing = new RequestTiming(clock)
  let stops = 0
  const guard = (chunks: AsyncIterable<Chunk>): AsyncIterable<Chunk> =>
    guardOutput(
      { chunks, used: () => usageOf(3) },
      {
        plan,
        holdBack: holdBackPolicyOf(plan, false),
        evaluate: evaluateWithoutCache,
        evaluateUncached: evaluateWithoutCache,
        classifier: poisonClassifier,
        pause: noPause,
        timing,
        idleTimers: createIdleTimers(clock),
        rephrase: async () => rephrased,
        stopUpstream: async () => void (stops += 1),
        conclude(decisions) {
          concluded.push(decisions)
          return { deciding: decisions.find(({ decision }) => decision !== 'allow')?.decision ?? 'allow' }
        },
      },
    )
  return { guard, pass, concluded, timing, stops: () => stops }
}

async function eventsOf(chunks: AsyncIterable<Chunk>): Promise<readonly InferenceEvent[]> {
  const events: InferenceEvent[] = []
  for await (const chunk of chunks) events.push(...chunk.events)
  return events
}

/** An upstream that sends what the test pushes. */
function createUpstream() {
  const queued: Chunk[] = []
  let wake = (): void => {}
  async function* chunks(): AsyncGenerator<Chunk, void> {
    for (;;) {
      const next = queued.shift()
      if (next === undefined) await new Promise<void>((resolve) => (wake = resolve))
      else yield next
    }
  }
  return {
    chunks: chunks(),
    async push(...more: readonly Chunk[]): Promise<void> {
      queued.push(...more)
      wake()
      await new Promise(setImmediate)
    },
  }
}

describe('the output guard', () => {
  it('passes a clean response on, complete and in order', async () => {
    const { guard, stops } = createScene({ denylist: ['project falcon'] })
    const events = await eventsOf(guard(streamOf(responseOf(clean, clean, clean, clean, clean, clean))))
    assert.equal(textIn(events), clean.repeat(6))
    assert.deepEqual([...new Set(events.map(({ type }) => type))], ['start', 'open', 'delta', 'close', 'end'])
    assert.equal(stops(), 0)
  })

  it('holds clean text back until it is scanned, and sends it when the upstream is idle', async () => {
    const { guard, pass } = createScene({ denylist: ['project falcon'] })
    const upstream = createUpstream()
    const received: InferenceEvent[] = []
    void (async () => {
      for await (const chunk of guard(upstream.chunks)) received.push(...chunk.events)
    })()
    await upstream.push(...responseOf(clean).slice(0, 3))
    assert.deepEqual(
      received.map(({ type }) => type),
      ['start', 'open'],
    )
    await pass(100)
    assert.equal(textIn(received), clean)
  })

  it('sends early text once later text has cleared it', async () => {
    const { guard } = createScene({})
    const upstream = createUpstream()
    const received: InferenceEvent[] = []
    void (async () => {
      for await (const chunk of guard(upstream.chunks)) received.push(...chunk.events)
    })()
    await upstream.push(...responseOf(...Array.from({ length: 20 }, () => clean)).slice(0, -1))
    const text = textIn(received)
    assert.ok(text.startsWith(clean) && text.length < 20 * clean.length, `${text.length} characters`)
  })

  it('measures how long the part was held back that waited longest', async () => {
    const { guard, pass, timing } = createScene({ denylist: ['project falcon'] })
    const upstream = createUpstream()
    void eventsOf(guard(upstream.chunks))
    const [start, open, text, ...rest] = responseOf(clean)
    await upstream.push(...[start, open].filter((chunk) => chunk !== undefined))
    assert.equal(timing.heldBackUs, 0)
    await upstream.push(...[text].filter((chunk) => chunk !== undefined))
    await pass(30)
    await upstream.push(...rest)
    assert.equal(timing.heldBackUs, 30_000)
  })

  it('measures how long a denied answer was held back', async () => {
    const { guard, pass, timing } = createScene({ denylist: ['project falcon'] })
    const upstream = createUpstream()
    void eventsOf(guard(upstream.chunks))
    const [start, open, , ...rest] = responseOf('project fal', 'con')
    const [, , early] = responseOf('project fal')
    await upstream.push(...[start, open, early].filter((chunk) => chunk !== undefined))
    await pass(5)
    await upstream.push(...rest)
    assert.equal(timing.heldBackUs, 5_000)
  })

  it('never sends a denied term, even if it is split between two chunks', async () => {
    const { guard, concluded, stops } = createScene({ denylist: ['project falcon'] })
    const events = await eventsOf(guard(streamOf(responseOf(clean, 'It is called project fal', 'con today.', clean))))
    assert.doesNotMatch(textIn(events), /project/)
    assert.equal(stops(), 1)
    assert.ok(concluded[0]?.some(({ check, decision }) => check === 'gateway' && decision === 'refuse'))
  })

  it('ends a denied response as a complete one with the stop reason filtered', async () => {
    const { guard, concluded } = createScene({ denylist: ['project falcon'] })
    const sent = await eventsOf(guard(streamOf(responseOf('project falcon'))))
    const opened = sent.filter(({ type }) => type === 'open').length
    assert.equal(sent.filter(({ type }) => type === 'close').length, opened)
    assert.equal(sent[0]?.type, 'start')
    assert.deepEqual(sent.at(-1), {
      type: 'end',
      stopReason: 'filtered',
      usage: usageOf(3),
      policy: { deciding: 'refuse' },
    })
    assert.equal(concluded.length, 1)
  })

  it('sends nothing near a threshold until the block is complete and clean', async () => {
    const { guard, pass } = createScene({})
    const upstream = createUpstream()
    const received: InferenceEvent[] = []
    void (async () => {
      for await (const chunk of guard(upstream.chunks)) received.push(...chunk.events)
    })()
    const chunks = responseOf('The French word is pois')
    await upstream.push(...chunks.slice(0, 3))
    await pass(100)
    assert.equal(textIn(received), '')
    await upstream.push(...chunks.slice(3))
    assert.equal(textIn(received), 'The French word is pois')
  })

  it('holds the whole block back if a rule needs all of it, and flushes it at the end of the stream', async () => {
    const { guard, pass } = createScene({ denylist: ['falcon'], response_pattern: 'rewrite' })
    const upstream = createUpstream()
    const received: InferenceEvent[] = []
    void (async () => {
      for await (const chunk of guard(upstream.chunks)) received.push(...chunk.events)
    })()
    const chunks = responseOf(...Array.from({ length: 10 }, () => clean))
    await upstream.push(...chunks.slice(0, -1))
    await pass(100)
    assert.deepEqual(
      received.map(({ type }) => type),
      ['start'],
    )
    await upstream.push(...chunks.slice(-1))
    assert.equal(textIn(received), clean.repeat(10))
    assert.deepEqual(received.at(-1)?.type, 'end')
  })

  it('replaces the text of a block that is rephrased', async () => {
    const { guard, stops } = createScene(
      { denylist: ['project falcon'], response_pattern: 'rewrite' },
      'It has no name.',
    )
    const events = await eventsOf(guard(streamOf(responseOf('It is called ', 'project falcon.'))))
    assert.equal(textIn(events), 'It has no name.')
    assert.equal(stops(), 0)
  })

  it('denies a block that cannot be rephrased', async () => {
    const { guard, stops } = createScene({ denylist: ['project falcon'], response_pattern: 'rewrite' })
    const events = await eventsOf(guard(streamOf(responseOf('It is called ', 'project falcon.'))))
    assert.equal(textIn(events), '')
    assert.equal(stops(), 1)
  })

  it('passes an upstream error on, without the text that was held back', async () => {
    const { guard, concluded } = createScene({ denylist: ['project falcon'] })
    const received: InferenceEvent[] = []
    const reading = async (): Promise<void> => {
      const chunks = streamOf(responseOf('project fal').slice(0, 3), new Error('connection reset'))
      for await (const chunk of guard(chunks)) received.push(...chunk.events)
    }
    await assert.rejects(reading(), /connection reset/)
    assert.equal(textIn(received), '')
    assert.equal(concluded.length, 0)
  })

  it('reads no further chunk after the caller has left', async () => {
    const { guard } = createScene({})
    let pulled = 0
    async function* chunks(): AsyncGenerator<Chunk, void> {
      for (const chunk of responseOf(...Array.from({ length: 50 }, () => clean))) {
        pulled += 1
        yield chunk
      }
    }
    for await (const _ of guard(chunks())) break
    await new Promise(setImmediate)
    assert.ok(pulled <= 2, `${pulled} chunks`)
  })
})

describe('a response that its upstream breaks off', () => {
  const broken = new Error('connection reset')
  async function* breaking(...chunks: readonly Chunk[]): AsyncGenerator<Chunk, void> {
    yield* chunks
    throw broken
  }
  const begun = (text: string): Chunk => ({
    events: [
      { type: 'start', model: 'm' },
      { type: 'open', block: 0, part: { type: 'text' } },
      { type: 'delta', block: 0, text },
    ],
  })

  /** The texts that were sent before the error. */
  async function textsBefore(chunks: AsyncIterable<Chunk>): Promise<string> {
    let text = ''
    const readAll = async (): Promise<void> => {
      for await (const { events } of chunks) text += textIn(events)
    }
    await assert.rejects(readAll(), broken)
    return text
  }

  it('is sent as far as it came, also an unfinished word, before the error', async () => {
    const { guard } = createScene({ denylist: ['gold'] })
    assert.equal(await textsBefore(guard(breaking(begun('The gate was ope')))), 'The gate was ope')
  })

  it('keeps an end back that could become a denied word', async () => {
    const { guard } = createScene({ denylist: ['gold mine'] })
    assert.doesNotMatch(await textsBefore(guard(breaking(begun('They dug for gold mine')))), /gold mine/)
  })

  it('sends nothing of a text that must be evaluated as a whole', async () => {
    const { guard } = createScene({ denylist: ['gold'], response_pattern: 'rewrite' }, 'harmless')
    assert.equal(await textsBefore(guard(breaking(begun('The gate was open.')))), '')
  })
})

describe('a response that arrives in one chunk', () => {
  const whole = (...texts: readonly string[]): Chunk => ({
    events: [
      { type: 'start', model: 'm' },
      ...texts.flatMap((text, block): readonly InferenceEvent[] => [
        { type: 'open', block, part: { type: 'text' } },
        { type: 'delta', block, text: text.slice(0, 5) },
        { type: 'delta', block, text: text.slice(5) },
        { type: 'close', block },
      ]),
      { type: 'end', stopReason: 'end', usage: usageOf(5) },
    ],
  })
  const toolCall = (input: string): Chunk => ({
    events: whole(input).events.map((event) =>
      event.type === 'open' ? { ...event, part: { type: 'tool-call', id: 't', name: 'look_up' } } : event,
    ),
  })
  const chunksOf = (chunk: Chunk): readonly Chunk[] => chunk.events.map((event) => ({ events: [event] }))

  it('is sent as it came, with its raw document', async () => {
    const { guard, stops } = createScene({ denylist: ['project falcon'] })
    const response: Chunk = { ...whole(clean), raw: { kind: 'document', dialect: 'chat', body: { id: 'c' } } }
    const sent = await Array.fromAsync(guard(streamOf([response])))
    assert.equal(sent.length, 1)
    assert.deepEqual(sent[0]?.raw, response.raw)
    assert.deepEqual(sent[0]?.events.slice(0, -1), response.events.slice(0, -1))
    assert.equal(stops(), 0)
  })

  it('gets the verdict of the same response in many chunks', async () => {
    const responses = [
      whole(clean, clean),
      whole('It is called project falcon.'),
      whole(clean, 'It is project falcon.', 'poison'),
      whole('poison', 'It is called project falcon.'),
      whole('', ' '),
      whole(Buffer.from('It is called project falcon.').toString('base64')),
      toolCall('{"name":"project falcon"}'),
      toolCall('{"name":"project heron"}'),
    ]
    for (const response of responses) {
      const [atOnce, inChunks] = [
        createScene({ denylist: ['project falcon'] }),
        createScene({ denylist: ['project falcon'] }),
      ]
      const sent = await eventsOf(atOnce.guard(streamOf([response])))
      const streamed = await eventsOf(inChunks.guard(streamOf(chunksOf(response))))
      assert.deepEqual(sent.at(-1), streamed.at(-1))
      assert.deepEqual(atOnce.concluded, inChunks.concluded)
      assert.equal(atOnce.stops(), inChunks.stops())
    }
  })

  it('is not sent if it is denied', async () => {
    const { guard, stops } = createScene({ denylist: ['project falcon'] })
    const events = await eventsOf(guard(streamOf([whole(clean, 'It is called project falcon.')])))
    assert.deepEqual(
      events.map(({ type }) => type),
      ['start', 'end'],
    )
    assert.equal(stops(), 1)
  })

  it('is sent with the text of a rephrased block, and without its raw document', async () => {
    const { guard } = createScene({ denylist: ['project falcon'], response_pattern: 'rewrite' }, 'It has no name.')
    const response: Chunk = {
      ...whole('It is called project falcon.'),
      raw: { kind: 'document', dialect: 'chat', body: { text: 'It is called project falcon.' } },
    }
    const sent = await Array.fromAsync(guard(streamOf([response])))
    assert.equal(textIn(sent.flatMap(({ events }) => events)), 'It has no name.')
    assert.equal(sent[0]?.raw, undefined)
  })

  it('is denied for text that only its raw document has', async () => {
    const { guard } = createScene({ denylist: ['project falcon'] })
    const response: Chunk = {
      ...whole(clean),
      raw: { kind: 'document', dialect: 'chat', body: { note: 'project falcon' } },
      outOfBand: [{ field: 'note', text: 'project falcon' }],
    }
    const events = await eventsOf(guard(streamOf([response])))
    assert.equal(textIn(events), '')
    assert.equal(events.at(-1)?.type, 'end')
  })
})
