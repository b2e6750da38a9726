import type { BlockStart, InferenceEvent, StopReason, Usage } from '../../../domain/inference/events.ts'
import type { InferenceRequest, ReasoningSignature } from '../../../domain/inference/request.ts'
import { estimateInputTokens } from '../../../domain/inference/count.ts'
import type { EstimateTokens, ReportedUsage } from './usage.ts'
import { completeUsage } from './usage.ts'
import type { TextDelta } from './frame-cache.ts'
import type { StopScanner } from './stop-scanner.ts'
import { createStopScanner } from './stop-scanner.ts'
import { mintToolCallId, safeToolCallId } from '../encoding/tool-ids.ts'
import type { ToolNames } from '../encoding/tool-names.ts'

/** How an upstream says that it is done. */
export type AnswerEnding = {
  readonly stopReason: StopReason
  readonly stopSequence?: string | undefined
  readonly usage: ReportedUsage
}

/**
 * Decoders tell it what an upstream said; it writes that down as a legal list of events: one start, blocks numbered
 * as they open, all closed before the one end. After the end it hears nothing more.
 */
export type EventWriter = {
  start(model: string, usage?: Usage): void
  open(part: Exclude<BlockStart, { type: 'tool-call' }>): number
  openToolCall(id: string, name: string): number
  /** Empty text is nothing. */
  delta(block: number, text: string): void
  proof(block: number, proof: ReasoningSignature): void
  close(block: number): void
  end(ending: AnswerEnding): void
  hasEnded(): boolean
  /** True where a stop string made us end it: the upstream is still writing. */
  wasCut(): boolean
  /** How many events wait to be taken. */
  waiting(): number
  /** What was written after that many. */
  eventsAfter(waiting: number): readonly InferenceEvent[]
  /** The same, if it is one piece of text that a model said word for word. */
  textAfter(waiting: number): TextDelta | undefined
  /** The events since the last time. */
  take(): InferenceEvent[]
}

export type WriterParts = {
  readonly request: InferenceRequest
  readonly requestId: string
  /** The model's name, should the upstream not say it. */
  readonly model: string
  readonly toolNames: ToolNames
  /** Stop strings that the upstream was not told about. */
  readonly stops: readonly string[]
  readonly estimateTokens: EstimateTokens
  /** The proof as this caller can carry it; undefined where it cannot. */
  readonly carryProof: (proof: ReasoningSignature, text: string) => ReasoningSignature | undefined
  /** Told of text before it is kept. Throws where there is too much of it. */
  readonly onText?: (length: number) => void
}

type OpenBlock = { readonly type: BlockStart['type']; readonly scanner: StopScanner | undefined; text: string }

type Draft = {
  readonly parts: WriterParts
  readonly open: Map<number, OpenBlock>
  events: InferenceEvent[]
  stage: 'before' | 'running' | 'ended'
  blockCount: number
  hasToolCall: boolean
  wasCut: boolean
  /** All that was written, for upstreams that do not count it. */
  output: string
}

export function createEventWriter(parts: WriterParts): EventWriter {
  const draft: Draft = {
    parts,
    open: new Map(),
    events: [],
    stage: 'before',
    blockCount: 0,
    hasToolCall: false,
    wasCut: false,
    output: '',
  }
  return {
    start: (model, usage) => start(draft, model, usage),
    open: (part) => openBlock(draft, part),
    openToolCall: (id, name) => openToolCall(draft, id, name),
    delta: (block, text) => delta(draft, block, text),
    proof: (block, proof) => prove(draft, block, proof),
    close: (block) => close(draft, block),
    end: (ending) => end(draft, ending),
    hasEnded: () => draft.stage === 'ended',
    wasCut: () => draft.wasCut,
    waiting: () => draft.events.length,
    eventsAfter: (waiting) => (waiting === 0 ? draft.events : draft.events.slice(waiting)),
    textAfter: (waiting) => textAfter(draft, waiting),
    take: () => take(draft),
  }
}

/** Mostly it is one at a time, and a list that grows from nothing takes room for many. */
function tell(draft: Draft, event: InferenceEvent): void {
  if (draft.events.length === 0) draft.events = [event]
  else draft.events.push(event)
}

function take(draft: Draft): InferenceEvent[] {
  const { events } = draft
  draft.events = []
  return events
}

function textAfter({ events, open }: Draft, waiting: number): TextDelta | undefined {
  const event = events.length === waiting + 1 ? events[waiting] : undefined
  if (event?.type !== 'delta') return undefined
  const type = open.get(event.block)?.type
  return type === 'text' || type === 'thinking' ? event : undefined
}

function start(draft: Draft, model: string, usage?: Usage): void {
  if (draft.stage !== 'before') return
  draft.stage = 'running'
  tell(draft, { type: 'start', model: model || draft.parts.model, ...(usage && { usage }) })
}

function openBlock(draft: Draft, part: BlockStart): number {
  start(draft, '')
  const block = draft.blockCount++
  if (draft.stage === 'ended') return block
  const { stops } = draft.parts
  const scanner = part.type === 'text' && stops.length > 0 ? createStopScanner(stops) : undefined
  draft.open.set(block, { type: part.type, scanner, text: '' })
  tell(draft, { type: 'open', block, part })
  return block
}

function openToolCall(draft: Draft, id: string, name: string): number {
  const { requestId, toolNames } = draft.parts
  draft.hasToolCall = true
  draft.output += name
  const callId = id === '' ? mintToolCallId(requestId, draft.blockCount) : safeToolCallId(id)
  return openBlock(draft, { type: 'tool-call', id: callId, name: toolNames.toCaller(name) })
}

function delta(draft: Draft, block: number, text: string): void {
  const scanner = draft.open.get(block)?.scanner
  if (scanner === undefined) return emit(draft, block, text)
  const scanned = scanner.push(text)
  emit(draft, block, scanned.text)
  if (scanned.stop === undefined) return
  draft.wasCut = true
  end(draft, { stopReason: 'stop-sequence', stopSequence: scanned.stop, usage: {} })
}

function emit(draft: Draft, block: number, text: string): void {
  const target = draft.open.get(block)
  if (text === '' || target === undefined) return
  draft.parts.onText?.(text.length)
  if (target.type === 'thinking') target.text += text
  draft.output += text
  tell(draft, { type: 'delta', block, text })
}

function prove(draft: Draft, block: number, proof: ReasoningSignature): void {
  const target = draft.open.get(block)
  if (target?.type !== 'thinking') return
  const carried = draft.parts.carryProof(proof, target.text)
  if (carried !== undefined) tell(draft, { type: 'proof', block, proof: carried })
}

function close(draft: Draft, block: number): void {
  const target = draft.open.get(block)
  if (target === undefined) return
  emit(draft, block, target.scanner?.flush() ?? '')
  draft.open.delete(block)
  tell(draft, { type: 'close', block })
}

function end(draft: Draft, { stopReason, stopSequence, usage }: AnswerEnding): void {
  start(draft, '')
  if (draft.stage === 'ended') return
  for (const block of draft.open.keys()) close(draft, block)
  draft.stage = 'ended'
  const { estimateTokens, request } = draft.parts
  tell(draft, {
    type: 'end',
    stopReason: trueReason(draft, stopReason),
    // An upstream that names another stop string than it was given says something of its own.
    ...(stopSequence !== undefined && request.stop.includes(stopSequence) && { stopSequence }),
    usage: completeUsage(usage, {
      input: () => estimateInputTokens(request),
      output: () => estimateTokens(draft.output),
    }),
  })
}

/** Several servers say that they simply stopped although they called a tool, or the other way round. A cut stays a cut. */
function trueReason({ hasToolCall }: Draft, said: StopReason): StopReason {
  if (hasToolCall) return said === 'end' ? 'tool-call' : said
  return said === 'tool-call' ? 'end' : said
}
