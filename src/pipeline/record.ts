import type { Clock } from '../base/clock.ts'
import { andThen, type MaybePromise } from '../base/maybe-promise.ts'
import { isFault } from '../base/fault.ts'
import { tap } from '../base/pull-stream.ts'
import type { ContentLevel } from '../domain/audit/event/content.ts'
import { announcedId, type VerdictFacts } from '../domain/audit/event/verdict.ts'
import type { EventFacts } from '../domain/audit/event/facts.ts'
import type { Journal } from '../domain/audit/journal.ts'
import { requestFacts, type RequestOutcome } from '../domain/audit/event/request-facts.ts'
import { collectTexts, type TextCollector } from '../domain/audit/event/request-texts.ts'
import type { InferenceEnd, Chunk, Receipt } from '../domain/inference/events.ts'
import type { InferenceCall } from './inference-call.ts'
import type { InferenceAnswer, Infer } from './infer.ts'

export type RecordParts = {
  /** Null where requests are not logged: they are paid for all the same. */
  readonly journal: Journal | null
  readonly clock: Clock
  readonly content: ContentLevel
  /** Takes personal data out of a text. */
  readonly redact: (text: string) => string
}

/**
 * The same road, and each request on it in the audit log: answered, refused, broken off or left by its caller. The end
 * of an answer is held back until it is paid for and its event is durable, so that no complete answer is missing from
 * the ledger or the log. An answer that is refused where its event cannot be written is paid for only once the event is
 * durable, so that a refused one is never charged. Otherwise both are written at once: a caller waits for the disk one time.
 */
export function withAudit(infer: Infer, parts: RecordParts): Infer {
  return async (asking) => {
    const recording = begin(asking, parts)
    try {
      const { judged: onVerdict, prepare: beforeModels } = recording
      return logged(await infer({ ...asking, onVerdict, beforeModels }), recording)
    } catch (error) {
      // Where the log is why the request is refused, it is no news that it cannot be written.
      await recording.write(failureOf(error)).catch((refusal: unknown) => {
        if (!isAuditFault(error)) throw refusal
      })
      throw error
    }
  }
}

type Recording = {
  readonly texts: TextCollector | undefined
  /** Takes what the checks said; the last word counts. */
  judged(verdict: VerdictFacts): void
  /** Learns whether the answer is refused when its event cannot be written. Rejects where it cannot be written now. */
  prepare(): MaybePromise<void>
  isRequired(): boolean
  /** Writes the event once; a second call waits for the same one. False: it is lost, and counted so. */
  write(outcome: RequestOutcome): Promise<boolean>
  /** Writes another one: it came otherwise than was written. */
  correct(outcome: RequestOutcome): Promise<unknown>
}

const unrecorded: Recording = {
  texts: undefined,
  judged() {},
  prepare() {},
  isRequired: () => false,
  write: async () => true,
  async correct() {},
}

function begin(asking: InferenceCall, { journal, clock, content, redact }: RecordParts): Recording {
  const { requestId, caller, request, origin, purpose } = asking
  // The free request is nobody's, so there is no log for it.
  if (caller.kind === 'free' || journal === null) return unrecorded
  const startedMs = clock.monotonicMs()
  const timeMs = clock.nowMs()
  const texts = content === 'none' ? undefined : collectTexts(request, { level: content, redact })
  const organizationId = caller.organization.id
  let written: Promise<boolean> | undefined
  let verdict: VerdictFacts | undefined
  let isRequired: boolean | undefined
  const record = (outcome: RequestOutcome): Promise<boolean> => {
    const latencyMs = Math.round(clock.monotonicMs() - startedMs)
    const make = (): EventFacts =>
      requestFacts({
        requestId,
        caller,
        request,
        user: purpose?.user,
        origin,
        timeMs,
        latencyMs,
        outcome,
        verdict,
        // Of what never came as far as the checks there is no text to keep: a caller over its limit must cost little.
        content: verdict && texts?.content(),
      })
    return journal.record(organizationId, make, { id: announcedId(outcome.policy), isRequired })
  }
  return {
    texts,
    judged(said) {
      verdict = said
    },
    prepare: () =>
      andThen(journal.isRequired(organizationId), (said) => {
        isRequired = said
      }),
    isRequired: () => isRequired !== false,
    write: (outcome) => (written ??= record(outcome)),
    // Where the first one is lost there is nothing to correct, and the request is counted as lost already.
    correct: async (outcome) => (await written) && (written = record(outcome)),
  }
}

function logged(answer: InferenceAnswer, recording: Recording): InferenceAnswer {
  const { upstream, bill } = answer
  const giveBack = async (): Promise<void> => {
    await answer[Symbol.asyncDispose]()
    // Nobody waits for it any more, but what happened is written down.
    await recording.write({ upstream, failure: 'caller_left', ...bill.charged() }).catch(() => undefined)
  }
  return { ...answer, pieces: watchPieces(answer, recording), [Symbol.asyncDispose]: giveBack }
}

function watchPieces({ pieces, upstream, bill }: InferenceAnswer, recording: Recording): AsyncIterable<Chunk> {
  const watch = (piece: Chunk): MaybePromise<Chunk> => {
    recording.texts?.add(piece)
    const end = endIn(piece)
    return end === undefined ? piece : finish(piece, end)
  }
  const finish = async (piece: Chunk, end: InferenceEnd): Promise<Chunk> => {
    const receipt = await (recording.isRequired() ? logThenPay(end) : logAndPay(end))
    return { ...piece, events: [...piece.events.slice(0, -1), { ...end, receipt }] }
  }
  const write = (end: InferenceEnd): Promise<boolean> =>
    recording.write({ upstream, end, cost: bill.quote(end.usage), policy: end.policy })
  const pay = ({ usage }: InferenceEnd): Promise<Receipt> =>
    bill.pay(usage).catch(async (error: unknown) => {
      await recording.correct({ upstream, ...failureOf(error) }).catch(() => undefined)
      throw error
    })
  const logAndPay = async (end: InferenceEnd): Promise<Receipt> => {
    const written = write(end)
    const [receipt] = await Promise.all([pay(end), written])
    return receipt
  }
  const logThenPay = async (end: InferenceEnd): Promise<Receipt> => {
    try {
      await write(end)
    } catch (error) {
      await bill.waive(end.usage)
      throw error
    }
    return pay(end)
  }
  const breakOff = async (error: unknown): Promise<never> => {
    await recording.write({ upstream, ...failureOf(error), ...bill.charged() })
    throw error
  }
  return tap(pieces, watch, breakOff)
}

/** The end is the last event of the last piece. */
function endIn({ events }: Chunk): InferenceEnd | undefined {
  const last = events.at(-1)
  return last?.type === 'end' ? last : undefined
}

const isAuditFault = (error: unknown): boolean => isFault(error) && error.code === 'audit_unavailable'

const failureOf = (error: unknown): RequestOutcome =>
  isFault(error) ? { failure: error.code, policy: error.details.policy } : { failure: 'internal_error' }
