import { estimateTokensOfLength } from '../../domain/inference/count.ts'
import type { InferenceEnd, InferenceEvent, Piece, Usage } from '../../domain/inference/events.ts'
import { hasCallerLeft, type Lease } from './lease.ts'

export type MeterParts = {
  readonly lease: Lease
  /** What the input is expected to be, until the upstream says. */
  readonly expected: Usage
  readonly signal: AbortSignal
  readonly onEnd: (usage: Usage) => void
}

export type Metered = AsyncDisposable & {
  readonly pieces: AsyncIterable<Piece>
  /** Ends the answer here: it is paid for by what was generated until now. */
  cut(): Promise<InferenceEnd>
}

/**
 * Watches an answer that has begun, and sees to it that it is paid for: its end goes out with the receipt, after the
 * ledger has it. An answer that ends otherwise is settled by what was generated until then.
 */
export function meter(source: AsyncIterable<Piece>, { lease, expected, signal, onEnd }: MeterParts): Metered {
  let begun = expected
  let outputLength = 0
  let ended: InferenceEnd | undefined

  const soFar = (): Usage => {
    const outputTokens = Math.max(begun.outputTokens, estimateTokensOfLength(outputLength))
    return { ...begun, outputTokens, source: 'estimated' }
  }
  const interrupted = async (): Promise<void> => {
    if (!ended) await lease.giveUp(hasCallerLeft(signal) ? 'aborted' : 'broken_off', soFar())
  }

  const watch = (event: InferenceEvent): InferenceEvent => {
    if (event.type === 'delta') outputLength += event.text.length
    if (event.type !== 'start') return event
    begun = event.usage ?? expected
    return { ...event, usage: begun }
  }

  async function finish(event: InferenceEnd): Promise<InferenceEnd> {
    ended = event
    onEnd(event.usage)
    ended = { ...event, receipt: await lease.settle('answered', event.usage) }
    return ended
  }

  return {
    pieces: {
      [Symbol.asyncIterator]() {
        const iterator = source[Symbol.asyncIterator]()
        return {
          async next() {
            try {
              const step = await iterator.next()
              if (step.done === true) return step
              const events = step.value.events.map(watch)
              const last = events.at(-1)
              // Only the end has to wait for something.
              if (last?.type === 'end') events.splice(-1, 1, await finish(last))
              return { done: false, value: { ...step.value, events } }
            } catch (error) {
              await interrupted()
              throw error
            }
          },
        }
      },
    },
    async cut() {
      return ended ?? (await finish({ type: 'end', stopReason: 'filtered', usage: soFar() }))
    },
    [Symbol.asyncDispose]: interrupted,
  }
}
