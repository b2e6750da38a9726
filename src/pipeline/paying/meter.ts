import type { Eventually } from '../../base/eventually.ts'
import { estimateTokensOfLength } from '../../domain/inference/count.ts'
import type { InferenceEnd, InferenceEvent, Piece, Usage } from '../../domain/inference/events.ts'
import { hasCallerLeft, type Lease } from './lease.ts'

type InferenceStart = Extract<InferenceEvent, { type: 'start' }>

export type MeterParts = {
  readonly lease: Lease
  /** What the input is expected to be, until the upstream says. */
  readonly expected: Usage
  readonly signal: AbortSignal
  readonly onEnd: (usage: Usage) => void
}

export type Metered = AsyncDisposable & {
  readonly pieces: AsyncIterable<Piece>
  /** Whether the answer has come to its end, and the ledger knows. */
  isPaid(): boolean
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

  async function breakOff(error: unknown): Promise<never> {
    await interrupted()
    throw error
  }

  /** Reads along. Only the beginning and the end are changed, and only the end has to wait for something. */
  function watch(step: IteratorResult<Piece>): Eventually<IteratorResult<Piece>> {
    if (step.done === true) return step
    const { events } = step.value
    for (const event of events) if (event.type === 'delta') outputLength += event.text.length
    const [first] = events
    const last = events.at(-1)
    const seen = first?.type === 'start' ? withEvents(step.value, [started(first), ...events.slice(1)]) : step.value
    if (last?.type !== 'end') return seen === step.value ? step : { done: false, value: seen }
    return finish(last).then((end) => ({ done: false, value: withEvents(seen, [...seen.events.slice(0, -1), end]) }))
  }

  function started(event: InferenceStart): InferenceStart {
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
        return { next: () => iterator.next().then(watch, breakOff) }
      },
    },
    isPaid: () => ended?.receipt !== undefined,
    async cut() {
      return ended ?? (await finish({ type: 'end', stopReason: 'filtered', usage: soFar() }))
    },
    [Symbol.asyncDispose]: interrupted,
  }
}

const withEvents = (piece: Piece, events: readonly InferenceEvent[]): Piece => ({ ...piece, events })
