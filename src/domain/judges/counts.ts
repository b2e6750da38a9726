import type { Page, Paged } from '../identity/store.ts'
import type { TextDirection } from '../scan/classify/classifier.ts'
import type { VersionAt } from './judge.ts'

/** Bins of the histogram of live scores, each 1,000 basis points wide. */
export const scoreBins = 10
export const binOf = (score: number): number => Math.min(scoreBins - 1, Math.floor((score * scoreBins) / 10_000))

/** What is counted of the questions to a judge. */
export type JudgeCounts = {
  /** Questions that the model was called for, whatever came of it. */
  readonly asked: number
  /** Questions that were answered before. */
  readonly remembered: number
  /** Texts that the guard of a policy kept from the judge. */
  readonly skipped: number
  /** Of those asked, those without a verdict. */
  readonly failed: number
  readonly usd: number
  /** As a shadow: questions about which both judges said something, and those about which they differ. */
  readonly compared: number
  readonly differed: number
  /** Scores of requests. */
  readonly scores: readonly number[]
}

export type CountedPolicy = VersionAt & { readonly policyId: string }
export type JudgeDay = CountedPolicy & { readonly day: number } & JudgeCounts

/** A request about which the active judge and its shadow differ. */
export type JudgeDifference = CountedPolicy & {
  readonly id: string
  readonly requestId: string
  readonly direction: TextDirection
  readonly activeScore: number
  readonly shadowScore: number
  readonly atMs: number
}

/** Why people do not review a text about which two judges differ. */
export const notReviewedReasons = ['no_event', 'no_text', 'repeated', 'over_limit'] as const
export type NotReviewed = (typeof notReviewedReasons)[number]

/** What became of a difference: the appeal in which people decide, or why there is none. */
export type DifferenceReview = { readonly appealId: string } | { readonly notReviewed: NotReviewed }

/** A difference, and what became of it. Undefined while it was not looked at. */
export type ReviewedDifference = JudgeDifference & { readonly review: DifferenceReview | undefined }

/** The model that answered, as the upstream reports it. */
export type SeenModel = VersionAt & { readonly upstream: string; readonly model: string; readonly sinceMs: number }

export type JudgeCountStore = {
  days(of: VersionAt, fromDay: number): Promise<readonly JudgeDay[]>
  /** Of all versions. */
  daysOfJudge(of: Omit<VersionAt, 'version'>, fromDay: number): Promise<readonly JudgeDay[]>
  differences(of: VersionAt, page: Page): Promise<Paged<ReviewedDifference>>
  /** The audit events of requests, by request id. */
  eventsOf(organizationId: string, requestIds: readonly string[]): Promise<ReadonlyMap<string, string>>
  seen(of: VersionAt): Promise<readonly SeenModel[]>
}

/** Writes what a node has counted. */
export type JudgeCountWriter = {
  add(days: readonly JudgeDay[], differences: readonly JudgeDifference[]): Promise<void>
}

export const noCounts: JudgeCounts = {
  asked: 0,
  remembered: 0,
  skipped: 0,
  failed: 0,
  usd: 0,
  compared: 0,
  differed: 0,
  scores: Array.from({ length: scoreBins }, () => 0),
}

export const addCounts = (one: JudgeCounts, other: JudgeCounts): JudgeCounts => ({
  asked: one.asked + other.asked,
  remembered: one.remembered + other.remembered,
  skipped: one.skipped + other.skipped,
  failed: one.failed + other.failed,
  usd: one.usd + other.usd,
  compared: one.compared + other.compared,
  differed: one.differed + other.differed,
  scores: one.scores.map((count, at) => count + (other.scores[at] ?? 0)),
})

export const sumOf = (all: readonly JudgeCounts[]): JudgeCounts => all.reduce(addCounts, noCounts)
