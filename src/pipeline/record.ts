import type { Clock } from '../base/clock.ts'
import { andThen, type MaybePromise } from '../base/maybe-promise.ts'
import { isFault, toFault, type FaultKind } from '../base/fault.ts'
import { tap } from '../base/pull-stream.ts'
import { announcedId, type PolicyObject, type VerdictFacts } from '../domain/audit/event/verdict.ts'
import type { EventFacts } from '../domain/audit/event/facts.ts'
import type { Journal } from '../domain/audit/journal.ts'
import { requestFacts, type RequestOutcome } from '../domain/audit/event/request-facts.ts'
import { RequestTiming } from '../domain/audit/event/request-timing.ts'
import type { TextCollector } from '../domain/audit/event/request-texts.ts'
import type { InferenceEnd, Chunk, Receipt } from '../domain/inference/events.ts'
import { hasCallerLeft, type Charged } from './billing/lease.ts'
import { startKeptTexts, type KeptTextsParts } from './kept-texts.ts'
import type { OperationCall } from './operation-call.ts'
import type { StartedOperation, Run } from './started-operation.ts'

export type RecordParts = KeptTextsParts & {
  /** Null if requests are not audited. They are charged nevertheless. */
  readonly journal: Journal | null
  readonly clock: Clock
  /** Called once for each request when its end is known, for the metrics. Also for requests that are not audited. */
  readonly onEnded: (ended: EndedRequest) => void
}

/** How a request ended: `end` is set if its answer is complete, otherwise `failure`. */
export type EndedRequest = {
  readonly call: OperationCall
  readonly timing: RequestTiming
  readonly end?: InferenceEnd
  readonly failure?: FaultKind | 'caller_left'
  readonly charged?: Charged | undefined
  /** The `policy` object of the error response, if a rule denied the request. */
  readonly policy?: PolicyObject | undefined
}

/**
 * Adds an audit event for each request: answered, rejected, interrupted or abandoned by its caller. The `end` event of an
 * answer is held back until the answer is paid for and its audit event is durable, so that every complete answer is in the
 * ledger and in the log. If the organization requires audit, the answer is paid for only after its event is durable, so that
 * an answer without an event is never charged. Otherwise both are written in parallel, so that the caller waits for one write.
 */
export function withAudit(run: Run, parts: RecordParts): Run {
  return async (call) => {
    const recording = startRecording(call, parts)
    try {
      const { prepare: beforeModels, timing, texts } = recording
      const onWithheld = texts && ((chunks: readonly Chunk[]) => texts.withhold(chunks))
      const hooks = { onVerdict: verdictHook(call, recording), beforeModels, timing, ...(onWithheld && { onWithheld }) }
      const answer = await run({ ...call, ...hooks })
      return withAuditEvent(answer, recording, call)
    } catch (error) {
      const { policy } = failureOf(error)
      recording.ended({ failure: failureKindOf(error, call), policy })
      // If the request failed because storage is unavailable, a failing write is expected, and the caller gets the first reason.
      await recording.write(failureOf(error)).catch((auditError: unknown) => {
        if (!isUnavailable(error)) throw auditError
      })
      throw error
    }
  }
}

type Recording = {
  readonly timing: RequestTiming
  readonly texts: TextCollector | undefined
  /** Only the first call counts. */
  ended(outcome: Omit<EndedRequest, 'call' | 'timing'>): void
  /** Sets the verdict of the checks; only the last one is formatted and written. */
  setVerdict(describe: () => VerdictFacts): void
  /** Reads whether the organization requires audit. Rejects if it does and the log is unavailable. */
  prepare(): MaybePromise<void>
  isRequired(): boolean
  /** Writes the event once; a second call waits for the same write. False: the event is lost and counted as lost. */
  write(outcome: RequestOutcome): Promise<boolean>
  /** Writes a corrected event, for when the outcome differs from the one already recorded. */
  correct(outcome: RequestOutcome): Promise<unknown>
}

const unrecorded = (report: Report): Recording => ({
  ...report,
  texts: undefined,
  setVerdict() {},
  prepare() {},
  isRequired: () => false,
  write: async () => true,
  async correct() {},
})

type Report = Pick<Recording, 'timing' | 'ended'>

function startReport(call: OperationCall, { clock, onEnded }: RecordParts): Report {
  const timing = new RequestTiming(clock, call.receivedMs)
  let hasEnded = false
  return {
    timing,
    ended(outcome) {
      if (hasEnded) return
      hasEnded = true
      onEnded({ call, timing, ...outcome })
      call.trace?.onEnded({ call, timing, ...outcome })
    },
  }
}

/** The verdict is recorded in the audit log, and in the trace if the request has one. */
function verdictHook({ trace }: OperationCall, { setVerdict }: Recording): Recording['setVerdict'] {
  if (trace === undefined) return setVerdict
  return (describe) => {
    setVerdict(describe)
    trace.onVerdict(describe)
  }
}

function startRecording(call: OperationCall, parts: RecordParts): Recording {
  const { journal, clock } = parts
  const { requestId, caller, operation, request, origin, purpose, tags } = call
  const report = startReport(call, parts)
  const { timing } = report
  // The free request belongs to no organization, so there is no log for it.
  if (caller.kind === 'free' || journal === null) return unrecorded(report)
  const timeMs = clock.nowMs()
  const kept = startKeptTexts(call, parts, timeMs)
  const organizationId = caller.organization.id
  let written: Promise<boolean> | undefined
  let describeVerdict: (() => VerdictFacts) | undefined
  let isRequired: boolean | undefined
  const record = (outcome: RequestOutcome): Promise<boolean> => {
    const totalUs = timing.elapsedUs()
    const id = announcedId(outcome.policy) ?? kept?.newEventId()
    const make = (): EventFacts => {
      // A request that did not reach the checks is recorded without texts, because rejecting a caller must be cheap.
      const texts = describeVerdict && kept?.factsOf(id)
      return requestFacts({
        requestId,
        caller,
        operation,
        request,
        user: purpose?.user,
        tags,
        origin,
        timeMs,
        timing,
        totalUs,
        outcome,
        verdict: describeVerdict?.(),
        content: texts?.content,
        sample: texts?.sample,
      })
    }
    return journal.record(organizationId, make, { id, isRequired })
  }
  return {
    ...report,
    texts: kept?.collector,
    setVerdict(latest) {
      describeVerdict = latest
    },
    prepare: () =>
      andThen(journal.isRequired(organizationId), (answer) => {
        isRequired = answer
      }),
    isRequired: () => isRequired !== false,
    write: (outcome) => (written ??= record(outcome)),
    // If the first event is lost there is nothing to correct, and the request is already counted as lost.
    correct: async (outcome) => (await written) && (written = record(outcome)),
  }
}

function withAuditEvent(answer: StartedOperation, recording: Recording, call: OperationCall): StartedOperation {
  const { upstream, bill, modelSwitch } = answer
  let isComplete = false
  const onComplete = (end: InferenceEnd): void => {
    isComplete = true
    recording.ended({ end, charged: bill.charged() })
  }
  /** The caller is gone, but the outcome is recorded. */
  const abandon = async (): Promise<void> => {
    await answer[Symbol.asyncDispose]()
    const charged = bill.charged()
    recording.ended({ failure: 'caller_left', charged })
    await recording.write({ upstream, modelSwitch, failure: 'caller_left', ...charged }).catch(() => undefined)
  }
  const dispose = (): PromiseLike<void> => (isComplete ? answer[Symbol.asyncDispose]() : abandon())
  const onFailed = (error: unknown): void =>
    recording.ended({ failure: failureKindOf(error, call), charged: bill.charged() })
  const chunks = auditChunks(answer, recording, { trace: call.trace, onComplete, onFailed })
  return { ...answer, chunks, [Symbol.asyncDispose]: dispose }
}

type AuditHooks = {
  readonly trace: OperationCall['trace']
  /** The answer is paid for and its event is written. */
  readonly onComplete: (end: InferenceEnd) => void
  readonly onFailed: (error: unknown) => void
}

function auditChunks(
  { chunks, upstream, bill, modelSwitch }: StartedOperation,
  recording: Recording,
  { trace, onComplete, onFailed }: AuditHooks,
): AsyncIterable<Chunk> {
  const recordChunk = (chunk: Chunk): MaybePromise<Chunk> => {
    recording.texts?.add(chunk)
    trace?.onChunk(chunk)
    const end = endIn(chunk)
    return end === undefined ? chunk : finish(chunk, end)
  }
  const finish = async (chunk: Chunk, end: InferenceEnd): Promise<Chunk> => {
    const settling = recording.isRequired() ? logThenPay(end) : logAndPay(end)
    const receipt = await settling.catch((error: unknown) => {
      onFailed(error)
      throw error
    })
    onComplete(end)
    return { ...chunk, events: [...chunk.events.slice(0, -1), { ...end, receipt }] }
  }
  const write = (end: InferenceEnd): Promise<boolean> =>
    recording.write({ upstream, modelSwitch, end, cost: bill.quote(end.usage), policy: end.policy })
  const pay = ({ usage }: InferenceEnd): Promise<Receipt> =>
    bill.pay(usage).catch(async (error: unknown) => {
      await recording.correct({ upstream, modelSwitch, ...failureOf(error) }).catch(() => undefined)
      throw error
    })
  const logAndPay = async (end: InferenceEnd): Promise<Receipt> => {
    const writing = write(end)
    const [receipt] = await Promise.all([pay(end), writing])
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
    onFailed(error)
    await recording.write({ upstream, modelSwitch, ...failureOf(error), ...bill.charged() })
    throw error
  }
  return tap(chunks, recordChunk, breakOff)
}

/** The `end` event is the last event of the last chunk. */
function endIn({ events }: Chunk): InferenceEnd | undefined {
  const last = events.at(-1)
  return last?.type === 'end' ? last : undefined
}

const isUnavailable = (error: unknown): boolean => isFault(error) && error.kind === 'unavailable'

const failureKindOf = (error: unknown, { signal }: OperationCall): NonNullable<EndedRequest['failure']> =>
  hasCallerLeft(signal) ? 'caller_left' : toFault(error).kind

const failureOf = (error: unknown): RequestOutcome =>
  isFault(error) ? { failure: error.code, policy: error.details.policy } : { failure: 'internal_error' }
