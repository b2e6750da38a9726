import { minuteMs, type Clock } from '../../base/clock.ts'
import { isFault } from '../../base/fault.ts'
import type { CaseInput } from '../cases/case.ts'
import type { PolicyContent } from '../policy/content.ts'
import type { JudgeCalibration, CalibrationAnswer, CalibrationQueue } from './calibration.ts'
import { openConditions } from './conditions.ts'
import { injectionAttempts } from './injection-attempts.ts'
import { calibrationRounds, notAsked, reportOf } from './report.ts'

/** A question to the judge that is calibrated. */
export type CalibrationQuestion =
  | {
      readonly kind: 'labelled'
      readonly policy: { readonly id: string; readonly content: PolicyContent }
      readonly given: CaseInput
    }
  | { readonly kind: 'injection'; readonly rule: string; readonly text: string }

/** What the judge of a calibration says, without any memory of what it said before. */
export type AskCalibrated = (
  calibration: JudgeCalibration,
  question: CalibrationQuestion,
) => Promise<Pick<CalibrationAnswer, 'score' | 'failure' | 'ms' | 'usdMicros'>>

export type CalibrationRunnerParts = {
  readonly queue: CalibrationQueue
  /** The text and the policy of an item; undefined if one of them is gone. */
  readonly findLabelled: (
    calibration: JudgeCalibration,
    item: JudgeCalibration['items'][number],
  ) => Promise<Extract<CalibrationQuestion, { readonly kind: 'labelled' }> | undefined>
  readonly ask: AskCalibrated
  readonly thresholdsOf: (calibration: JudgeCalibration) => Promise<(policyId: string) => number>
  readonly timeoutMsOf: (calibration: JudgeCalibration) => Promise<number>
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** Runs calibrations in the background, one at a time. Each answer is kept, so a calibration continues after a crash. */
export type CalibrationRunner = AsyncDisposable & {
  /** Works until the queue is empty. A job calls it every second. */
  run(): Promise<void>
}

/** Questions at once. */
const concurrency = 4
/** The judge has no budget left, or rests after failures. */
const unavailable = 'judge_unavailable'
const waitMs = minuteMs
const waitsText = 'It waits: the judge is disabled for a while after failures, or its budget of the day is spent.'
const longestMs = 48 * 60 * minuteMs
const tooLong = 'The judge was not available for two days.'
const unexpected = 'It stopped after an unexpected error; see the service log.'

export function createCalibrationRunner(parts: CalibrationRunnerParts): CalibrationRunner {
  const { queue, clock, ask, onError } = parts
  let isStopping = false
  let runs = Promise.resolve()
  return {
    run() {
      const round = runs.then(runAll)
      runs = round.catch(() => undefined) // the caller gets the error; the next round starts nevertheless
      return round
    },
    async [Symbol.asyncDispose]() {
      isStopping = true
      await runs
    },
  }

  async function runAll(): Promise<void> {
    for (let claimed = await claim(); claimed; claimed = await claim()) {
      const next = { fromMs: 0, error: null as string | null }
      try {
        if ((await workOff(claimed)) === 'waits')
          Object.assign(next, { fromMs: clock.nowMs() + waitMs, error: waitsText })
      } finally {
        await queue.release(claimed.id, next.fromMs, next.error)
      }
    }
  }

  async function claim(): Promise<JudgeCalibration | undefined> {
    return isStopping ? undefined : queue.claim()
  }

  /** If the database cannot be reached, it continues later. Any other error would repeat, so it fails the calibration. */
  async function workOff(calibration: JudgeCalibration): Promise<'ended' | 'waits'> {
    try {
      const waiting = await missingOf(calibration)
      let state: 'open' | 'lost' | 'waits' = 'open'
      const work = async (): Promise<void> => {
        while (state === 'open' && !isStopping) {
          const next = waiting.shift()
          if (next === undefined) return
          const answer = await answerOf(calibration, next)
          if (answer.failure === unavailable) state = 'waits'
          else if (!(await queue.saveAnswer(calibration, answer))) state = 'lost'
        }
      }
      await Promise.all(Array.from({ length: concurrency }, work))
      const ended = state as 'open' | 'lost' | 'waits'
      if (ended === 'waits') {
        if (clock.nowMs() - calibration.createdAtMs < longestMs) return 'waits'
        await fail(calibration, tooLong)
      } else if (ended === 'open' && !isStopping) await complete(calibration)
    } catch (error) {
      if (isFault(error) && error.kind === 'unavailable') throw error
      onError(error)
      await fail(calibration, unexpected)
    }
    return 'ended'
  }

  async function missingOf(calibration: JudgeCalibration): Promise<Place[]> {
    const known = new Set((await queue.answers(calibration.id)).map(({ item, round }) => `${item} ${round}`))
    return placesOf(calibration).filter(({ item, round }) => !known.has(`${item} ${round}`))
  }

  async function answerOf(calibration: JudgeCalibration, place: Place): Promise<CalibrationAnswer> {
    const question = await questionAt(calibration, place)
    if (question === undefined) return { ...place, score: null, failure: notAsked, ms: 0, usdMicros: 0 }
    return { ...place, ...(await ask(calibration, question)) }
  }

  async function questionAt(calibration: JudgeCalibration, { item }: Place): Promise<CalibrationQuestion | undefined> {
    const label = calibration.items[item]
    if (label !== undefined) return parts.findLabelled(calibration, label)
    const attempt = injectionAttempts[item - calibration.items.length]
    return attempt && { kind: 'injection', ...attempt }
  }

  async function complete(calibration: JudgeCalibration): Promise<void> {
    const answers = await queue.answers(calibration.id)
    const report = reportOf(calibration, answers, await parts.thresholdsOf(calibration))
    const takeOver = { report, timeoutMs: await parts.timeoutMsOf(calibration), activeKappa: undefined }
    const isCalibrated = openConditions(takeOver).length === 0
    await queue.end(calibration, { status: 'completed', report, error: null, isCalibrated })
  }

  async function fail(calibration: JudgeCalibration, error: string): Promise<void> {
    await queue.end(calibration, { status: 'failed', report: null, error, isCalibrated: false })
  }
}

type Place = Pick<CalibrationAnswer, 'item' | 'round'>

/** Each label in each round, then each injection attempt. A check for drift asks about each label once. */
function placesOf({ items, kind }: JudgeCalibration): Place[] {
  const rounds = kind === 'drift' ? 1 : calibrationRounds
  const ofItems = Array.from({ length: rounds }, (_, round) => items.map((_item, item) => ({ item, round })))
  const ofAttempts =
    kind === 'drift' ? [] : injectionAttempts.map((_attempt, at) => ({ item: items.length + at, round: 0 }))
  return [...ofItems.flat(), ...ofAttempts]
}
