import type { Page, Paged } from '../identity/store.ts'
import type { CalibrationItem } from './calibration.ts'

/** Of a version. One version of an organization is active, and at most one is its shadow. */
export const judgeStates = ['draft', 'calibrated', 'active', 'shadow', 'retired'] as const
export type JudgeState = (typeof judgeStates)[number]

/** What happens to a text that an enforced rule needs a judge for, if the judge fails: `closed` denies it. */
export const judgeFailures = ['closed', 'open'] as const

/** The id of the judge of the configuration. It has no versions: its version is 0. */
export const fileJudgeId = 'file'

/** The instructions for a model, with places for the rule and the text. */
export type JudgeTemplate = { readonly system: string; readonly user: string }

export type JudgeParameters = { readonly temperature: number; readonly maxOutputTokens: number }

/** What a version fixes. */
export type JudgeContent = {
  readonly model: string
  /** Null: the built-in prompt. */
  readonly template: JudgeTemplate | null
  readonly parameters: JudgeParameters
  readonly timeoutMs: number
  readonly fail: (typeof judgeFailures)[number]
  /** Over all nodes. */
  readonly maxUsdPerDay: number
}

/** The labels that a judge in force is asked about each night. */
export const nightlyLabels = 50

/** The labels that an active judge is asked about each night, and how well it agreed with them before. */
export type FixedLabels = { readonly items: readonly CalibrationItem[]; readonly kappa: number | null }

export type JudgeVersion = JudgeContent & {
  readonly judgeId: string
  readonly organizationId: string
  readonly version: number
  /** Of the prompt. */
  readonly digest: string
  readonly state: JudgeState
  /** The share of live questions that it is asked as a shadow. */
  readonly shareBasisPoints: number
  /** The last calibration that was completed. */
  readonly calibrationId: string | null
  readonly fixed: FixedLabels
  readonly activatedAtMs: number | null
  readonly createdBy: string
  readonly createdAtMs: number
}

export type JudgeHead = {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  /** Incremented by every change. A change must name the revision that its caller has read. */
  readonly revision: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** A judge with its newest version. */
export type StoredJudge = JudgeHead & {
  readonly latest: JudgeVersion
  /** The numbers of the versions that are in use. */
  readonly activeVersion: number | null
  readonly shadowVersion: number | null
}

/** The versions that an organization uses. */
export type JudgesInForce = { readonly active: JudgeVersion | undefined; readonly shadow: JudgeVersion | undefined }

export type VersionAt = Pick<JudgeVersion, 'organizationId' | 'judgeId' | 'version'>

export type VersionChange = Partial<
  Pick<JudgeVersion, 'state' | 'shareBasisPoints' | 'calibrationId' | 'fixed' | 'activatedAtMs'>
>

/** Storage of judges. Every lookup takes the organization first. */
export type JudgeStore = {
  insert(judge: JudgeHead, version: JudgeVersion): Promise<void>
  insertVersion(version: JudgeVersion): Promise<void>
  find(organizationId: string, id: string): Promise<StoredJudge | undefined>
  list(organizationId: string, page: Page): Promise<Paged<StoredJudge>>
  names(organizationId: string): Promise<readonly Pick<JudgeHead, 'id' | 'name'>[]>
  /** All versions, the newest first. */
  versions(organizationId: string, id: string): Promise<readonly JudgeVersion[]>
  findVersion(at: VersionAt): Promise<JudgeVersion | undefined>
  inForce(organizationId: string): Promise<JudgesInForce>
  /** Compare-and-set: writes name and time, and increments the revision, only if the stored one is `revision`. */
  touch(judge: JudgeHead, revision: number): Promise<boolean>
  changeVersion(at: VersionAt, change: VersionChange): Promise<void>
  /** With its versions, calibrations and counts. */
  remove(organizationId: string, id: string): Promise<void>
}
