import { bytesOfTokens } from '../../domain/inference/count.ts'
import type { InferenceEvent } from '../../domain/inference/events.ts'
import type { UsageBounds } from '../../domain/inference/plausible-usage.ts'

export type Delta = Extract<InferenceEvent, { type: 'delta' }>

/**
 * Counts the text of one answer, and says where it passes the most that its request can have generated. Thinking has a
 * margin of its own, because some upstreams do not count it against the output limit.
 */
export class OutputCounter {
  readonly maxBytes: number
  readonly maxThinkingBytes: number
  /** The open blocks; true for a thinking block. */
  readonly open = new Map<number, boolean>()
  textBytes = 0
  thinkingBytes = 0

  constructor({ outputTokens, reasoningTokens }: Pick<UsageBounds, 'outputTokens' | 'reasoningTokens'>) {
    this.maxBytes = bytesOfTokens(outputTokens)
    this.maxThinkingBytes = bytesOfTokens(reasoningTokens)
  }

  /** All text that was accepted. */
  get bytes(): number {
    return this.textBytes + this.thinkingBytes
  }

  /** Counts the events. Returns the delta that the answer must end before, if there is one. */
  firstBeyond(events: readonly InferenceEvent[]): Delta | undefined {
    for (const event of events) {
      if (event.type === 'open') this.open.set(event.block, event.part.type === 'thinking')
      else if (event.type === 'close') this.open.delete(event.block)
      else if (event.type === 'delta' && !this.accept(event)) return event
    }
    return undefined
  }

  /** The events that end the answer instead of the delta that was not accepted: as much of it as fits, then all open blocks closed. */
  endAt(delta: Delta): readonly InferenceEvent[] {
    const bytes = Buffer.from(delta.text).subarray(0, this.bytesLeft(delta))
    // As the start of a longer text: half a character at the end is left out.
    const text = new TextDecoder().decode(bytes, { stream: true })
    const closed = [...this.open.keys()].map((block): InferenceEvent => ({ type: 'close', block }))
    this.add(delta, Buffer.byteLength(text))
    return text === '' ? closed : [{ ...delta, text }, ...closed]
  }

  accept(delta: Delta): boolean {
    const byteCount = Buffer.byteLength(delta.text)
    if (byteCount > this.bytesLeft(delta)) return false
    this.add(delta, byteCount)
    return true
  }

  bytesLeft({ block }: Delta): number {
    const { maxBytes, maxThinkingBytes, textBytes, thinkingBytes } = this
    if (this.open.get(block) === true) return maxBytes + maxThinkingBytes - textBytes - thinkingBytes
    return maxBytes - textBytes - Math.max(0, thinkingBytes - maxThinkingBytes)
  }

  add({ block }: Delta, byteCount: number): void {
    if (this.open.get(block) === true) this.thinkingBytes += byteCount
    else this.textBytes += byteCount
  }
}
