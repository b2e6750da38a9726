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
  /** The same, but continues the last pending event if that is a delta of this block: one event for all frames of a read. */
  extendDelta(block: number, text: string): void
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

/** A class, because an object with its own closures would cost every response a kilobyte. */
class OrderedWriter implements EventWriter {
  readonly parts: WriterParts
  readonly openBlocks = new Map<number, OpenBlock>()
  events: InferenceEvent[] = []
  stage: 'before' | 'running' | 'ended' = 'before'
  blockCount = 0
  hasToolCall = false
  wasCut = false
  /** The length of the output in UTF-8, for the token estimate if the upstream reports no usage. */
  outputBytes = 0

  constructor(parts: WriterParts) {
    this.parts = parts
  }

  start(model: string, usage?: Usage): void {
    if (this.stage !== 'before') return
    this.stage = 'running'
    this.push({ type: 'start', model: model || this.parts.model, ...(usage && { usage }) })
  }

  open(part: BlockStart): number {
    this.start('')
    const block = this.blockCount++
    if (this.stage === 'ended') return block
    const { stops } = this.parts
    const scanner = part.type === 'text' && stops.length > 0 ? createStopScanner(stops) : undefined
    this.openBlocks.set(block, { type: part.type, scanner, text: '' })
    this.push({ type: 'open', block, part })
    return block
  }

  openToolCall(id: string, name: string): number {
    const { requestId, toolNames } = this.parts
    this.hasToolCall = true
    this.outputBytes += Buffer.byteLength(name)
    const callId = id === '' ? mintToolCallId(requestId, this.blockCount) : safeToolCallId(id)
    return this.open({ type: 'tool-call', id: callId, name: toolNames.toCaller(name) })
  }

  delta(block: number, text: string): void {
    const scanner = this.openBlocks.get(block)?.scanner
    if (scanner === undefined) return this.append(block, text)
    const scanned = scanner.push(text)
    this.append(block, scanned.text)
    if (scanned.stop === undefined) return
    this.wasCut = true
    this.end({ stopReason: 'stop-sequence', stopSequence: scanned.stop, usage: {} })
  }

  append(block: number, text: string): void {
    if (this.keep(block, text)) this.push({ type: 'delta', block, text })
  }

  extendDelta(block: number, text: string): void {
    const last = this.events[this.events.length - 1]
    const isContinued = last?.type === 'delta' && last.block === block && this.parts.stops.length === 0
    if (!isContinued) this.delta(block, text)
    else if (this.keep(block, text))
      this.events[this.events.length - 1] = { type: 'delta', block, text: last.text + text }
  }

  /** False if there is no text, or no such block. */
  keep(block: number, text: string): boolean {
    const target = this.openBlocks.get(block)
    if (text === '' || target === undefined) return false
    this.parts.onText?.(text.length)
    if (target.type === 'thinking') target.text += text
    this.outputBytes += Buffer.byteLength(text)
    return true
  }

  citation(block: number, citation: Citation): void {
    if (this.openBlocks.get(block)?.type !== 'text') return
    const { url, title, passage = '', proof = '' } = citation
    this.parts.onText?.(url.length + title.length + passage.length + proof.length)
    this.push({ type: 'citation', block, citation })
  }

  signature(block: number, signature: ReasoningSignature): void {
    const target = this.openBlocks.get(block)
    if (target?.type !== 'thinking') return
    const wrapped = this.parts.wrapSignature(signature, target.text)
    if (wrapped !== undefined) this.push({ type: 'signature', block, signature: wrapped })
  }

  close(block: number): void {
    const target = this.openBlocks.get(block)
    if (target === undefined) return
    this.append(block, target.scanner?.flush() ?? '')
    this.openBlocks.delete(block)
    this.push({ type: 'close', block })
  }

  end({ stopReason, stopSequence, usage }: ReportedEnd): void {
    this.start('')
    if (this.stage === 'ended') return
    for (const block of this.openBlocks.keys()) this.close(block)
    this.stage = 'ended'
    const { estimateTokens, request } = this.parts
    this.push({
      type: 'end',
      stopReason: effectiveReason(this.hasToolCall, stopReason),
      // Other values are dropped, because the upstream may report only stop strings of the request.
      ...(stopSequence !== undefined && request.stop.includes(stopSequence) && { stopSequence }),
      usage: completeUsage(usage, {
        input: () => estimateInputTokens(request),
        output: () => estimateTokens(this.outputBytes),
      }),
    })
  }

  hasEnded(): boolean {
    return this.stage === 'ended'
  }

  wasCutByStop(): boolean {
    return this.wasCut
  }

  pendingCount(): number {
    return this.events.length
  }

  eventsAfter(count: number): readonly InferenceEvent[] {
    return count === 0 ? this.events : this.events.slice(count)
  }

  textAfter(count: number): TextDelta | undefined {
    const event = this.events.length === count + 1 ? this.events[count] : undefined
    if (event?.type !== 'delta') return undefined
    const type = this.openBlocks.get(event.block)?.type
    return type === 'text' || type === 'thinking' ? event : undefined
  }

  take(): InferenceEvent[] {
    const { events } = this
    this.events = []
    return events
  }

  /** Usually there is one event. A literal array is cheaper than `push` on an empty one, which reserves space for many. */
  push(event: InferenceEvent): void {
    if (this.events.length === 0) this.events = [event]
    else this.events.push(event)
  }
}

export const createEventWriter = (parts: WriterParts): EventWriter => new OrderedWriter(parts)

/** Some servers report a normal end although they called a tool, or a tool call without one. Other reasons are kept. */
function effectiveReason(hasToolCall: boolean, reported: StopReason): StopReason {
  if (hasToolCall) return reported === 'end' ? 'tool-call' : reported
  return reported === 'tool-call' ? 'end' : reported
}
