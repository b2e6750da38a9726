import { wholePeriodMs } from '../credits/reports.ts'

/** Requests and denials that were counted under a subject: a policy, the gateway configuration, failures or rate limits. */
export type SubjectSum = {
  /** Start of the bucket, Unix seconds. */
  readonly startTime: number
  readonly subject: string
  readonly requests: number
  /** Of these, denied by the subject while it was enforced. */
  readonly denials: number
}

export type SubjectQuery = {
  readonly organizationId: string
  readonly subjects: readonly string[]
  /** Unix seconds, `to` exclusive. */
  readonly from: number
  readonly to: number
  /** The length of a bucket in seconds. */
  readonly bucket: number
}

/** Reads what was counted by subject. */
export type SubjectSums = (query: SubjectQuery) => Promise<readonly SubjectSum[]>

/** A bucket that every period is within, for sums over a whole period. */
export const wholePeriod = wholePeriodMs / 1000
