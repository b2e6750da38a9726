import fc from 'fast-check'
import type { BlockStart, Citation, InferenceEvent, StopReason, Usage } from '../../src/domain/inference/events.ts'
import { callerFormats, type CallerFormat } from '../../src/domain/inference/formats.ts'
import type { ReasoningSignature } from '../../src/domain/inference/request.ts'
import type { AnswerContext } from '../../src/http/inference/writing/stream-writer.ts'
import { requestBy } from './requests.ts'

/** Answers for the tests of the endpoints: written by hand, or generated from the event grammar. */

export const usage: Usage = {
  inputTokens: 10,
  cacheReadTokens: 4,
  cacheWriteTokens: 2,
  outputTokens: 7,
  reasoningTokens: 3,
  source: 'reported',
}

const receipt = { creditsUsed: 12, costUsd: 0.0117, remainingCredits: 9988 }

export const credits = { remaining_credits: 9988, estimated_credits_used: 12, estimated_cost_usd: 0.0117 }

export const start: InferenceEvent = { type: 'start', model: 'upstream-model', usage: { ...usage, outputTokens: 0 } }
export const end = (stopReason: StopReason = 'end'): InferenceEvent => ({ type: 'end', stopReason, usage, receipt })
export const open = (block: number, part: BlockStart): InferenceEvent => ({ type: 'open', block, part })
const openText = (block: number): InferenceEvent => open(block, { type: 'text' })
const openCall = (block: number, id: string, name = 'read'): InferenceEvent =>
  open(block, { type: 'tool-call', id, name })
export const delta = (block: number, text: string): InferenceEvent => ({ type: 'delta', block, text })
export const prove = (block: number, proof: ReasoningSignature): InferenceEvent => ({
  type: 'signature',
  block,
  signature: proof,
})
const cite = (block: number, citation: Citation): InferenceEvent => ({ type: 'citation', block, citation })
export const close = (block: number): InferenceEvent => ({ type: 'close', block })

export const textAnswer = (...texts: string[]): InferenceEvent[] => [
  start,
  openText(0),
  ...texts.map((text) => delta(0, text)),
  close(0),
  end(),
]

export const parallelCalls: readonly InferenceEvent[] = [
  start,
  openText(0),
  delta(0, 'Looking.'),
  close(0),
  openCall(1, 'call_a'),
  openCall(2, 'call_b', 'list'),
  delta(1, '{"path"'),
  delta(2, '{"dir":'),
  delta(1, ':"a"}'),
  delta(2, '"b"}'),
  close(2),
  close(1),
  end('tool-call'),
]

/** Generates the same ids in the same order for every caller. */
export function contextIn(
  dialect: CallerFormat,
  body: Record<string, unknown> = {},
  more: Partial<AnswerContext> = {},
): AnswerContext {
  let count = 0
  return {
    id: `${dialect}_answer`,
    model: 'default-model',
    createdAtSeconds: 1_700_000_000,
    requestId: 'req_1',
    request: requestBy(dialect, {}, body),
    newId: (prefix) => `${prefix}_${(count += 1)}`,
    ...more,
  }
}

const anyText = fc.string({ unit: 'grapheme', maxLength: 12 })
const anyJson = fc.json({ maxDepth: 1 }).map((json) => `{"value":${json}}`)

type AnyBlock = {
  readonly part: BlockStart
  readonly deltas: readonly string[]
  readonly citations?: readonly Citation[]
  readonly proof?: ReasoningSignature
}

const anyCitation: fc.Arbitrary<Citation> = fc
  .tuple(fc.webUrl(), anyText, fc.option(fc.nat(20)))
  .map(([url, title, at]) => ({ url, title, ...(at !== null && { range: { start: at, end: at + 5 } }) }))

const anyProof = (dialect: CallerFormat): fc.Arbitrary<ReasoningSignature> =>
  fc
    .constantFrom<CallerFormat>('messages', 'responses')
    .map((from) => ({ format: from, value: `proof of ${from} for ${dialect}` }))

function anyBlock(dialect: CallerFormat): fc.Arbitrary<AnyBlock> {
  const texts = fc.array(anyText, { maxLength: 4 })
  return fc.oneof(
    texts.map((deltas): AnyBlock => ({ part: { type: 'text' }, deltas })),
    fc
      .tuple(texts, fc.array(anyCitation, { maxLength: 2 }))
      .map(([deltas, citations]): AnyBlock => ({ part: { type: 'text' }, deltas, citations })),
    texts.map((deltas): AnyBlock => ({ part: { type: 'refusal' }, deltas })),
    fc.tuple(texts, fc.option(anyProof(dialect))).map(([deltas, proof]): AnyBlock => ({
      part: { type: 'thinking' },
      deltas,
      ...(proof && { proof }),
    })),
    fc.constant<AnyBlock>({
      part: { type: 'thinking' },
      deltas: [],
      proof: { format: 'messages', value: 'hidden', redacted: true },
    }),
    fc.tuple(fc.stringMatching(/^call_[a-z0-9]{6}$/), fc.option(anyJson)).map(([id, json]): AnyBlock => ({
      part: { type: 'tool-call', id, name: 'read' },
      deltas: json === null ? [] : [json.slice(0, 3), json.slice(3)],
    })),
    fc
      .constantFrom(...callerFormats)
      .filter((other) => other !== dialect)
      .map((other): AnyBlock => ({
        part: { type: 'opaque', dialect: other, raw: { type: 'vendor_thing' } },
        deltas: [],
      })),
  )
}

const stops: readonly StopReason[] = [
  'end',
  'length',
  'context-full',
  'stop-sequence',
  'tool-call',
  'refusal',
  'filtered',
  'pause',
]

/**
 * Any list of events that an upstream may cause, including interleaved blocks: each choice selects the block that continues, and
 * blocks open in order. Two blocks of one kind interleave only if they are tool calls.
 */
export function anyEvents(dialect: CallerFormat): fc.Arbitrary<InferenceEvent[]> {
  return fc
    .tuple(fc.array(anyBlock(dialect), { maxLength: 5 }), fc.infiniteStream(fc.nat()), fc.constantFrom(...stops))
    .map(([blocks, choices, stopReason]) => [start, ...interleaved(blocks, choices), end(stopReason)])
}

function interleaved(blocks: readonly AnyBlock[], choices: Iterator<number>): InferenceEvent[] {
  const queues = blocks.map(stepsOf)
  const events: InferenceEvent[] = []
  let opened = 0
  for (;;) {
    const ready = queues.filter((queue, at) => queue.length > 0 && at <= opened && !hasToWait(blocks, queues, at))
    const queue = ready[(choices.next().value ?? 0) % Math.max(1, ready.length)]
    const step = queue?.shift()
    if (step === undefined) return events
    if (step[0]?.type === 'open') opened += 1
    events.push(...step)
  }
}

function hasToWait(blocks: readonly AnyBlock[], queues: readonly unknown[][], at: number): boolean {
  const type = blocks[at]?.part.type
  return (
    type !== 'tool-call' &&
    queues.some((queue, before) => before < at && queue.length > 0 && blocks[before]?.part.type === type)
  )
}

/** The events of a block. A redacted block has no deltas. */
function stepsOf({ part, deltas, citations = [], proof }: AnyBlock, block: number): InferenceEvent[][] {
  const events = [
    open(block, part),
    ...deltas.map((text) => delta(block, text)),
    ...citations.map((citation) => cite(block, citation)),
    ...(proof ? [prove(block, proof)] : []),
    close(block),
  ]
  return proof?.redacted ? [events] : events.map((event) => [event])
}

/** The same events, each block complete before the next one. */
export const inSequence = (events: readonly InferenceEvent[]): InferenceEvent[] => {
  const numberOf = (event: InferenceEvent): number =>
    event.type === 'start' ? -1 : event.type === 'end' ? Infinity : event.block
  return events.toSorted((a, b) => numberOf(a) - numberOf(b) || 0)
}
