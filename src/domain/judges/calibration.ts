import type { Page, Paged } from '../identity/store.ts'
import type { CalibrationReport } from './calibration-report.ts'

/** `drift`: the labels that an active judge is asked about each night. */
export const calibrationKinds = ['calibration', 'drift'] as const
export const calibrationStatuses = ['running', 'completed', 'failed', 'cancelled'] as const

/** Where a text is, about which people have said what the rule should say: a case of a policy, or the request of an appeal. */
export type LabelledText = { readonly caseId: string } | { readonly appealId: string }

/** What people say about a text and the rule of a policy. */
export type CalibrationItem = LabelledText & {
  readonly policyId: string
  readonly expected: 'match' | 'no_match'
}

/** Why a labelled text does not count. Used as names by the API. */
export const leftOutReasons = [
  'not_by_person',
  'unsure',
  'disagreeing',
  'dismissed',
  'repeated',
  'without_text',
  'over_limit',
] as const
export type LeftOut = Readonly<Record<(typeof leftOutReasons)[number], number>>

export const nothingLeftOut: LeftOut = {
  not_by_person: 0,
  unsure: 0,
  disagreeing: 0,
  dismissed: 0,
  repeated: 0,
  without_text: 0,
  over_limit: 0,
}

export const countLeftOut = (leftOut: LeftOut): number =>
  leftOutReasons.reduce((sum, reason) => sum + leftOut[reason], 0)

/** A judge is asked about labelled texts, in the background. */
export type JudgeCalibration = {
  readonly id: string
  readonly organizationId: string
  readonly judgeId: string
  /** 0 for the judge of the configuration. */
  readonly version: number
  /** The model and a digest of the prompt. */
  readonly subject: string
  readonly kind: (typeof calibrationKinds)[number]
  /** The day of a check for drift. */
  readonly night: number | null
  readonly status: (typeof calibrationStatuses)[number]
  readonly items: readonly CalibrationItem[]
  readonly leftOut: LeftOut
  /** Answers that it needs, and those that it has. */
  readonly total: number
  readonly done: number
  readonly report: CalibrationReport | null
  /** Why it failed, was cancelled, or waits. */
  readonly error: string | null
  readonly createdBy: string | null
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** What the judge said about an item. The injection attempts come after the items. */
export type CalibrationAnswer = {
  readonly item: number
  readonly round: number
  /** Null if it failed. */
  readonly score: number | null
  readonly failure: string | null
  readonly ms: number
  readonly usdMicros: number
}

export type CalibrationStore = {
  /** Returns false if there is a check for drift of this night already. */
  insert(calibration: JudgeCalibration): Promise<boolean>
  find(organizationId: string, judgeId: string, id: string): Promise<JudgeCalibration | undefined>
  list(organizationId: string, judgeId: string, page: Page): Promise<Paged<JudgeCalibration>>
  /** The last one of this kind that was completed. */
  latest(
    of: Pick<JudgeCalibration, 'organizationId' | 'judgeId' | 'version' | 'kind'>,
  ): Promise<JudgeCalibration | undefined>
  answers(id: string): Promise<readonly CalibrationAnswer[]>
  countRunning(organizationId: string): Promise<number>
  /** Ends a running one. Returns false if it is not running. */
  cancel(calibration: Pick<JudgeCalibration, 'organizationId' | 'id' | 'error'>, atMs: number): Promise<boolean>
}

/** The work queue. One node at a time works on a calibration, under a lease. */
export type CalibrationQueue = {
  claim(): Promise<JudgeCalibration | undefined>
  answers(id: string): Promise<readonly CalibrationAnswer[]>
  /** Keeps an answer and renews the lease. Returns false, and keeps nothing, if the lease was lost. */
  saveAnswer(calibration: JudgeCalibration, answer: CalibrationAnswer): Promise<boolean>
  /** Ends it, if the lease was not lost. A calibration that was completed becomes the one of its version. */
  end(calibration: JudgeCalibration, outcome: CalibrationOutcome): Promise<boolean>
  /** Lets another node, or a later round, continue from this time on. */
  release(id: string, fromMs: number, error: string | null): Promise<void>
}

export type CalibrationOutcome = Pick<JudgeCalibration, 'status' | 'report' | 'error'> & {
  /** Whether the version can take over. */
  readonly isCalibrated: boolean
}
