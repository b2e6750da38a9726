import { hash } from 'node:crypto'
import type { Clock } from '../../../base/clock.ts'
import type { MaybePromise } from '../../../base/maybe-promise.ts'
import type { PerCategory } from './categories.ts'
import type { SecondStage } from './classifier.ts'
import { EncoderUnavailable, type Encoder, type EncoderQuestion } from './encoder.ts'
import { createScanCache } from '../scan-cache.ts'

type MissedStage = Extract<SecondStage, `linear_encoder_${string}`>
/** Logits of the encoder, or why there are none. */
export type EncoderAnswer = PerCategory<number> | MissedStage

/**
 * `busy`: too much text waited already. `starting`: the model is being loaded. `paused`: the text was not sent, because the
 * circuit breaker was open. `over_share`: the encoder has used its share of the processor.
 */
export const encoderResults = ['judged', 'late', 'busy', 'over_share', 'starting', 'failed', 'paused'] as const
export type EncoderResult = (typeof encoderResults)[number]

export type EncoderCallsParts = {
  readonly encoder: Pick<Encoder, 'score'>
  readonly clock: Clock
  /** Called for each text that needs the encoder; with the error of a call that failed. */
  readonly onResult: (result: EncoderResult, error?: unknown) => void
}

/**
 * Asks the encoder about several texts within one time limit, one after the other, so that a long text does not fill its queue.
 * Returns an answer for each. After the first that is missing the others are missing as well. `Infinity`: nothing waits for them.
 */
export type AskEncoder = (
  texts: readonly string[],
  question: EncoderQuestion,
  limitMs: number,
) => MaybePromise<readonly EncoderAnswer[]>

/** Circuit breaker: opens after this many consecutive timeouts, then lets one text through (half-open). */
const timeoutsToOpen = 3
const openMs = 5_000

/** Logits of recent texts are cached by the hash of the text: parts of a streamed text are read again if it is denied. */
const cachedTexts = 4_096

export function createAskEncoder({ encoder, clock, onResult }: EncoderCallsParts): AskEncoder {
  const cache = createScanCache<PerCategory<number>>(cachedTexts)
  const breaker = createCircuitBreaker(clock)

  async function askOne({ key, text, question }: KeyedText, limit: AbortSignal): Promise<EncoderAnswer> {
    if (limit.aborted) return 'linear_encoder_late'
    if (!breaker.mayAsk()) {
      onResult('paused')
      return 'linear_encoder_late'
    }
    try {
      const logits = await beforeAbort(encoder.score(text, question, limit), limit)
      if (!Object.values(logits).every(Number.isFinite)) throw new Error('The encoder answered without a number.')
      cache.set(key, logits)
      breaker.answered()
      onResult('judged')
      return logits
    } catch (error) {
      if (limit.aborted) breaker.timedOut()
      const result = limit.aborted ? 'late' : resultOf(error)
      onResult(result, error)
      return stageOf(result)
    }
  }

  async function askAll(texts: readonly KeyedText[], limitMs: number): Promise<readonly EncoderAnswer[]> {
    const limit = new AbortController()
    const cancel = limitMs === Infinity ? undefined : clock.after(limitMs, () => limit.abort())
    const answers: EncoderAnswer[] = []
    let missed: MissedStage | undefined
    try {
      for (const text of texts) {
        const answer = missed ?? cache.get(text.key) ?? (await askOne(text, limit.signal))
        if (typeof answer === 'string') missed = answer
        answers.push(answer)
      }
      return answers
    } finally {
      cancel?.()
    }
  }

  return (texts, question, limitMs) => {
    const keyed = texts.map((text) => ({ text, question, key: hash('sha256', text, 'base64url') }))
    const known = keyed.map(({ key }) => cache.get(key))
    const isKnown = known.every((logits) => logits !== undefined)
    return isKnown ? known : askAll(keyed, limitMs)
  }
}

function createCircuitBreaker(clock: Clock) {
  let timeouts = 0
  let openUntilMs = 0
  return {
    /** Half-open, true for one text: its answer closes the breaker; without one the next text tries after `openMs`. */
    mayAsk(): boolean {
      if (timeouts < timeoutsToOpen) return true
      const nowMs = clock.monotonicMs()
      if (nowMs < openUntilMs) return false
      openUntilMs = nowMs + openMs
      return true
    },
    answered(): void {
      timeouts = 0
    },
    timedOut(): void {
      timeouts += 1
      openUntilMs = clock.monotonicMs() + openMs
    },
  }
}

/** A busy encoder or one that starts rejects at once, so neither opens the circuit breaker. */
function resultOf(error: unknown): EncoderResult {
  const reason = error instanceof EncoderUnavailable ? error.reason : undefined
  return reason === 'busy' || reason === 'starting' || reason === 'over_share' ? reason : 'failed'
}

function stageOf(result: EncoderResult): MissedStage {
  if (result === 'late') return 'linear_encoder_late'
  if (result === 'starting') return 'linear_encoder_starting'
  return result === 'over_share' || result === 'busy' ? 'linear_encoder_busy' : 'linear_encoder_failed'
}

type KeyedText = { readonly key: string; readonly text: string; readonly question: EncoderQuestion }

/** Rejects once the signal aborts, although the promise may stay pending. */
async function beforeAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
