import type { Clock } from '../base/clock.ts'
import type { Eventually } from '../base/eventually.ts'
import { isFault } from '../base/fault.ts'
import { watched } from '../base/flow.ts'
import type { ContentLevel } from '../domain/audit/content/content.ts'
import type { VerdictFacts } from '../domain/audit/facts/verdict.ts'
import type { EventFacts } from '../domain/audit/facts/facts.ts'
import type { Journal } from '../domain/audit/journal.ts'
import { announcedId } from '../domain/audit/facts/policy-object.ts'
import { requestFacts, type RequestOutcome } from '../domain/audit/facts/request-facts.ts'
import { gatherTexts, type Gathering } from '../domain/audit/content/request-texts.ts'
import type { InferenceEnd, Piece } from '../domain/inference/events.ts'
import type { Asking } from './asking.ts'
import type { Answer, Infer } from './infer.ts'

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
 * the ledger or the log. Both are written at once: a caller waits for the disk one time.
 */
export function recorded(infer: Infer, parts: RecordParts): Infer {
  return async (asking) => {
    const recording = begin(asking, parts)
    try {
      return logged(await infer({ ...asking, onVerdict: recording.judged }), recording)
    } catch (error) {
      await recording.write(failureOf(error))
      throw error
    }
  }
}

type Recording = {
  readonly texts: Gathering | undefined
  /** Takes what the checks said; the last word counts. */
  judged(verdict: VerdictFacts): void
  /** Writes the event once; whoever asks again waits for the same one. */
  write(outcome: RequestOutcome): Promise<void>
  /** Writes another one: it came otherwise than was written. */
  correct(outcome: RequestOutcome): Promise<void>
}

const unrecorded: Recording = { texts: undefined, judged() {}, async write() {}, async correct() {} }

function begin(asking: Asking, { journal, clock, content, redact }: RecordParts): Recording {
  const { requestId, caller, request, origin, purpose } = asking
  // The free request is nobody's, so there is no log for it.
  if (caller.kind === 'free' || journal === null) return unrecorded
  const startedMs = clock.monotonicMs()
  const timeMs = clock.nowMs()
  const texts = content === 'none' ? undefined : gatherTexts(request, { level: content, redact })
  let written: Promise<void> | undefined
  let verdict: VerdictFacts | undefined
  const record = (outcome: RequestOutcome): Promise<void> => {
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
    return journal.record(caller.organization.id, make, announcedId(outcome.policy))
  }
  return {
    texts,
    judged(said) {
      verdict = said
    },
    write: (outcome) => (written ??= record(outcome)),
    correct: (outcome) => (written = record(outcome)),
  }
}

function logged(answer: Answer, recording: Recording): Answer {
  const { upstream } = answer
  const giveBack = async (): Promise<void> => {
    await answer[Symbol.asyncDispose]()
    // Nobody waits for it any more, but what happened is written down.
    await recording.write({ upstream, failure: 'caller_left' }).catch(() => undefined)
  }
  return { ...answer, pieces: watchPieces(answer, recording), [Symbol.asyncDispose]: giveBack }
}

function watchPieces({ pieces, upstream, bill }: Answer, recording: Recording): AsyncIterable<Piece> {
  const watch = (piece: Piece): Eventually<Piece> => {
    recording.texts?.add(piece)
    const end = endIn(piece)
    return end === undefined ? piece : finish(piece, end)
  }
  const finish = async (piece: Piece, end: InferenceEnd): Promise<Piece> => {
    const written = recording.write({ upstream, end, cost: bill.quote(end.usage), policy: end.policy })
    const paid = bill.pay(end.usage).catch(async (error: unknown) => {
      await recording.correct({ upstream, ...failureOf(error) })
      throw error
    })
    const [receipt] = await Promise.all([paid, written])
    return { ...piece, events: [...piece.events.slice(0, -1), { ...end, receipt }] }
  }
  const breakOff = async (error: unknown): Promise<never> => {
    await recording.write({ upstream, ...failureOf(error) })
    throw error
  }
  return watched(pieces, watch, breakOff)
}

/** The end is the last event of the last piece. */
function endIn({ events }: Piece): InferenceEnd | undefined {
  const last = events.at(-1)
  return last?.type === 'end' ? last : undefined
}

const failureOf = (error: unknown): RequestOutcome =>
  isFault(error) ? { failure: error.code, policy: error.details.policy } : { failure: 'internal_error' }
