import { isFault } from '../../base/fault.ts'
import { tap } from '../../base/pull-stream.ts'
import { estimateTokensOfBytes } from '../../domain/inference/count.ts'
import type { InferenceEnd, InferenceEvent, Chunk, Usage } from '../../domain/inference/events.ts'
import { plausibleUsage, type UsageBounds } from '../../domain/inference/plausible-usage.ts'
import { hasCallerLeft, type Lease } from './lease.ts'

type InferenceStart = Extract<InferenceEvent, { type: 'start' }>

export type MeterParts = {
  readonly lease: Lease
  /** The estimated usage, until the upstream reports its own. */
  readonly expected: Usage
  /** The most that the request can have used. */
  readonly bounds: UsageBounds
  readonly signal: AbortSignal
  readonly onEnd: (usage: Usage) => void
  /** Called once if the upstream reports an implausible usage. */
  readonly onImplausible: (usage: Usage) => void
}

export type Metered = AsyncDisposable & {
  readonly chunks: AsyncIterable<Chunk>
  /** The usage so far. */
  used(): Usage
}

/**
 * Meters the usage of an answer that has started. An answer that does not reach its end is settled by what was generated so
 * far. The `end` event itself is paid for by `withAudit`.
 */
export function meter(source: AsyncIterable<Chunk>, parts: MeterParts): Metered {
  const { lease, expected, signal } = parts
  let atStart = expected
  let isImplausible = false
  let outputBytes = 0
  let reported: Usage | undefined

  const used = (): Usage => {
    if (reported !== undefined) return reported
    const outputTokens = Math.max(atStart.outputTokens, estimateTokensOfBytes(outputBytes))
    return { ...atStart, outputTokens, source: 'estimated' }
  }
  /** Has no effect if the answer is already paid for. */
  const giveUp = (isByCaller: boolean): Promise<void> => lease.giveUp(isByCaller ? 'aborted' : 'broken_off', used())

  async function breakOff(error: unknown): Promise<never> {
    await giveUp(hasCallerLeft(signal) || isUnread(error))
    throw error
  }

  /** Changes only the `start` event, and an `end` event with an implausible usage. */
  function measure(chunk: Chunk): Chunk {
    let { events } = chunk
    for (const event of events) if (event.type === 'delta') outputBytes += Buffer.byteLength(event.text)
    const first = events[0]
    const last = events[events.length - 1]
    if (first?.type === 'start') events = [started(first), ...events.slice(1)]
    const end = last?.type === 'end' ? ended(last) : last
    if (end !== undefined && end !== last) events = [...events.slice(0, -1), end]
    return events === chunk.events ? chunk : { ...chunk, events }
  }

  function started(event: InferenceStart): InferenceStart {
    atStart = event.usage === undefined ? expected : plausible(event.usage)
    return { ...event, usage: atStart }
  }

  function ended(event: InferenceEnd): InferenceEnd {
    const usage = plausible(event.usage)
    reported = usage
    parts.onEnd(usage)
    return usage === event.usage ? event : { ...event, usage }
  }

  function plausible(upstreamUsage: Usage): Usage {
    const { inputTokens } = expected
    const usage = plausibleUsage(upstreamUsage, parts.bounds, {
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
    chunks: tap(source, measure, breakOff),
    used,
    [Symbol.asyncDispose]: () => giveUp(hasCallerLeft(signal)),
  }
}

/** A caller that does not read its answer pays for it, because it was generated. */
const isUnread = (error: unknown): boolean => isFault(error) && error.code === 'response_not_read'
