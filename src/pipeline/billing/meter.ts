import { isFault } from '../../base/fault.ts'
import { tap } from '../../base/pull-stream.ts'
import { estimateTokensOfBytes } from '../../domain/inference/count.ts'
import type { InferenceEnd, InferenceEvent, Chunk, Usage } from '../../domain/inference/events.ts'
import { plausibleUsage, type UsageBounds } from '../../domain/inference/plausible-usage.ts'
import { hasCallerLeft, type Lease } from './lease.ts'

type InferenceStart = Extract<InferenceEvent, { type: 'start' }>

export type MeterParts = {
  readonly lease: Lease
  /** What the input is expected to be, until the upstream says. */
  readonly expected: Usage
  /** The most that the request can have used. */
  readonly bounds: UsageBounds
  readonly signal: AbortSignal
  readonly onEnd: (usage: Usage) => void
  /** Told once where the upstream reports what cannot be true. */
  readonly onImplausible: (usage: Usage) => void
}

export type Metered = AsyncDisposable & {
  readonly pieces: AsyncIterable<Chunk>
  /** What was used until now. */
  used(): Usage
}

/**
 * Watches an answer that has begun, and knows what it has used. One that does not come to its end is settled by what was
 * generated until then; the end itself is paid for by whoever lets it out.
 */
export function meter(source: AsyncIterable<Chunk>, parts: MeterParts): Metered {
  const { lease, expected, signal } = parts
  let begun = expected
  let isImplausible = false
  let outputBytes = 0
  let reported: Usage | undefined

  const used = (): Usage => {
    if (reported !== undefined) return reported
    const outputTokens = Math.max(begun.outputTokens, estimateTokensOfBytes(outputBytes))
    return { ...begun, outputTokens, source: 'estimated' }
  }
  /** Where the answer is paid for by now, that counts. */
  const giveUp = (isCallersDoing: boolean): Promise<void> =>
    lease.giveUp(isCallersDoing ? 'aborted' : 'broken_off', used())

  async function breakOff(error: unknown): Promise<never> {
    await giveUp(hasCallerLeft(signal) || isUnread(error))
    throw error
  }

  /** Reads along. Only the beginning is changed, and an end whose counts cannot be true. */
  function watch(piece: Chunk): Chunk {
    let { events } = piece
    for (const event of events) if (event.type === 'delta') outputBytes += Buffer.byteLength(event.text)
    const first = events[0]
    const last = events[events.length - 1]
    if (first?.type === 'start') events = [started(first), ...events.slice(1)]
    const end = last?.type === 'end' ? ended(last) : last
    if (end !== undefined && end !== last) events = [...events.slice(0, -1), end]
    return events === piece.events ? piece : { ...piece, events }
  }

  function started(event: InferenceStart): InferenceStart {
    begun = event.usage === undefined ? expected : believed(event.usage)
    return { ...event, usage: begun }
  }

  function ended(event: InferenceEnd): InferenceEnd {
    const usage = believed(event.usage)
    reported = usage
    parts.onEnd(usage)
    return usage === event.usage ? event : { ...event, usage }
  }

  function believed(said: Usage): Usage {
    const { inputTokens } = expected
    const usage = plausibleUsage(said, parts.bounds, {
      inputTokens,
      outputTokens: estimateTokensOfBytes(outputBytes),
      outputBytes,
    })
    if (usage.reportedTokens !== undefined && !isImplausible) {
      isImplausible = true
      parts.onImplausible(usage)
    }
    return usage
  }

  return {
    pieces: tap(source, watch, breakOff),
    used,
    [Symbol.asyncDispose]: () => giveUp(hasCallerLeft(signal)),
  }
}

/** A caller who does not read its answer has it generated all the same. */
const isUnread = (error: unknown): boolean => isFault(error) && error.code === 'response_not_read'
