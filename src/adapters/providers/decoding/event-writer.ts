import type { BlockStart, Citation, InferenceEvent, StopReason, Usage } from '../../../domain/inference/events.ts'
import type { InferenceRequest, ReasoningSignature } from '../../../domain/inference/request.ts'
import { estimateInputTokens } from '../../../domain/inference/count.ts'
import type { EstimateTokens, ReportedUsage } from './usage.ts'
import { completeUsage } from './usage.ts'
import type { TextDelta } from './frame-cache.ts'
import type { StopScanner } from './stop-scanner.ts'
import { createStopScanner } from './stop-scanner.ts'
import { mintToolCallId, safeToolCallId, type ToolNames } from '../encoding/tool-names.ts'

/** The end of a response as the upstream reported it. */
export type ReportedEnd = {
  readonly stopReason: StopReason
  readonly stopSequence?: string | undefined
  readonly usage: ReportedUsage
}

/**
 * Collects what a decoder reports and always produces a legal event order, whatever the upstream sends: one `start`, blocks
 * numbered as they open, all closed before one `end`. Calls after the end are ignored.
 */
export type EventWriter = {
  start(model: string, usage?: Usage): void
  open(part: Exclude<BlockStart, { type: 'tool-call' }>): number
  openToolCall(id: string, name: string): number
  /** Ignores empty text. */
  delta(block: number, text: string): void
  /** Ignored if the block is not an open text block. */
  citation(block: number, citation: Citation): void
  signature(block: number, signature: ReasoningSignature): void
  close(block: number): void
  end(ending: ReportedEnd): void
  hasEnded(): boolean
  /** True if the gateway ended the response at a stop string. The upstream may still be sending. */
  wasCutByStop(): boolean
  /** The number of events that `take` would return. */
  pendingCount(): number
  /** The pending events after the first `count`. */
  eventsAfter(count: number): readonly InferenceEvent[]
  /** The pending event after the first `count`, if it is the only one and a delta of a text or thinking block. */
  textAfter(count: number): TextDelta | undefined
  /** Returns the pending events and clears them. */
  take(): InferenceEvent[]
}

export type WriterParts = {
  readonly request: InferenceRequest
  readonly requestId: string
  /** The model name for upstreams that do not report one. */
  readonly model: string
  readonly toolNames: ToolNames
  /** Stop strings that the upstream does not support, so the writer scans for them. */
  readonly stops: readonly string[]
  readonly estimateTokens: EstimateTokens
  /** Converts a signature to a form that the caller's dialect can carry. Undefined if it cannot carry any. */
  readonly wrapSignature: (signature: ReasoningSignature, text: string) => ReasoningSignature | undefined
  /** Called with the length of each text before it is stored. Throws if the response is too long. */
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
  /** The whole output text, for the token estimate if the upstream reports no usage. */
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
    citation: (block, citation) => addCitation(draft, block, citation),
    signature: (block, signature) => addSignature(draft, block, signature),
    close: (block) => close(draft, block),
    end: (ending) => end(draft, ending),
    hasEnded: () => draft.stage === 'ended',
    wasCutByStop: () => draft.wasCut,
    pendingCount: () => draft.events.length,
    eventsAfter: (count) => (count === 0 ? draft.events : draft.events.slice(count)),
    textAfter: (count) => textAfter(draft, count),
    take: () => take(draft),
  }
}

/** Usually there is one event. A literal array is cheaper than `push` on an empty one, which reserves space for many. */
function push(draft: Draft, event: InferenceEvent): void {
  if (draft.events.length === 0) draft.events = [event]
  else draft.events.push(event)
}

function take(draft: Draft): InferenceEvent[] {
  const { events } = draft
  draft.events = []
  return events
}

function textAfter({ events, open }: Draft, count: number): TextDelta | undefined {
  const event = events.length === count + 1 ? events[count] : undefined
  if (event?.type !== 'delta') return undefined
  const type = open.get(event.block)?.type
  return type === 'text' || type === 'thinking' ? event : undefined
}

function start(draft: Draft, model: string, usage?: Usage): void {
  if (draft.stage !== 'before') return
  draft.stage = 'running'
  push(draft, { type: 'start', model: model || draft.parts.model, ...(usage && { usage }) })
}

function openBlock(draft: Draft, part: BlockStart): number {
  start(draft, '')
  const block = draft.blockCount++
  if (draft.stage === 'ended') return block
  const { stops } = draft.parts
  const scanner = part.type === 'text' && stops.length > 0 ? createStopScanner(stops) : undefined
  draft.open.set(block, { type: part.type, scanner, text: '' })
  push(draft, { type: 'open', block, part })
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
  if (scanner === undefined) return append(draft, block, text)
  const scanned = scanner.push(text)
  append(draft, block, scanned.text)
  if (scanned.stop === undefined) return
  draft.wasCut = true
  end(draft, { stopReason: 'stop-sequence', stopSequence: scanned.stop, usage: {} })
}

function append(draft: Draft, block: number, text: string): void {
  const target = draft.open.get(block)
  if (text === '' || target === undefined) return
  draft.parts.onText?.(text.length)
  if (target.type === 'thinking') target.text += text
  draft.output += text
  push(draft, { type: 'delta', block, text })
}

function addCitation(draft: Draft, block: number, citation: Citation): void {
  if (draft.open.get(block)?.type !== 'text') return
  const { url, title, passage = '', proof = '' } = citation
  draft.parts.onText?.(url.length + title.length + passage.length + proof.length)
  push(draft, { type: 'citation', block, citation })
}

function addSignature(draft: Draft, block: number, signature: ReasoningSignature): void {
  const target = draft.open.get(block)
  if (target?.type !== 'thinking') return
  const wrapped = draft.parts.wrapSignature(signature, target.text)
  if (wrapped !== undefined) push(draft, { type: 'signature', block, signature: wrapped })
}

function close(draft: Draft, block: number): void {
  const target = draft.open.get(block)
  if (target === undefined) return
  append(draft, block, target.scanner?.flush() ?? '')
  draft.open.delete(block)
  push(draft, { type: 'close', block })
}

function end(draft: Draft, { stopReason, stopSequence, usage }: ReportedEnd): void {
  start(draft, '')
  if (draft.stage === 'ended') return
  for (const block of draft.open.keys()) close(draft, block)
  draft.stage = 'ended'
  const { estimateTokens, request } = draft.parts
  push(draft, {
    type: 'end',
    stopReason: effectiveReason(draft, stopReason),
    // Other values are dropped, because the upstream may report only stop strings of the request.
    ...(stopSequence !== undefined && request.stop.includes(stopSequence) && { stopSequence }),
    usage: completeUsage(usage, {
      input: () => estimateInputTokens(request),
      output: () => estimateTokens(draft.output),
    }),
  })
}

/** Some servers report a normal end although they called a tool, or a tool call without one. Other reasons are kept. */
function effectiveReason({ hasToolCall }: Draft, reported: StopReason): StopReason {
  if (hasToolCall) return reported === 'end' ? 'tool-call' : reported
  return reported === 'tool-call' ? 'end' : reported
}
