import type { TextsOrigin } from './replay-texts.ts'

/** How the draft would decide on one request, and what happened to the request when it was made. */
export type ReplayResult = {
  /** In basis points; the highest of several texts. */
  readonly score: number
  /** True if the rule could not be evaluated on at least one text. */
  readonly isNotEvaluated: boolean
  readonly wasBlocked: boolean
  /** True if the policy that the draft belongs to blocked it. */
  readonly wasBlockedByPolicy: boolean
} & TextsOrigin

/** How the outcome of a request would change under the draft. */
export const changes = ['newly_blocked', 'newly_allowed', 'changed_reason', 'unchanged', 'not_evaluated'] as const
export type Change = (typeof changes)[number]
type Counts = Readonly<Record<Change, number>>

/** Changes for which example event ids are kept. */
export const changesWithExamples = ['newly_blocked', 'newly_allowed', 'changed_reason', 'not_evaluated'] as const
type ChangeWithExamples = (typeof changesWithExamples)[number]
/** Examples of each kind of change. */
export const maxExamples = 20

/** Stored and returned by the API as is, so its fields use the API's names. */
export type BacktestCounts = Counts & {
  readonly projects: Readonly<Record<string, Counts>>
  readonly sweep: readonly SweepRow[]
  readonly scores: ScoreCounts
  readonly coverage: Coverage
  /** Event ids only, never texts. */
  readonly examples: Readonly<Record<ChangeWithExamples, readonly string[]>>
  /** The same examples with what a reader needs to find and compare them. */
  readonly example_requests: readonly ExampleRequest[]
}

/**
 * How many requests got which score, by what another threshold can change for them. `allowed` then: blocked from this score
 * on. `blocked_by_policy` then: allowed above this score. `other`: blocked by something else, or by this policy while a text of
 * it cannot be evaluated now. Each is a list with the number of requests in each range of scores.
 */
export type ScoreCounts = Readonly<Record<(typeof scoreClasses)[number], readonly number[]>>
export const scoreClasses = ['allowed', 'blocked_by_policy', 'other'] as const

/** Width of a range of scores, in basis points. The counts of every threshold that is a multiple of it follow from the ranges. */
export const scoreRange = 100

const noRequests: readonly number[] = Array<number>(10_000 / scoreRange + 1).fill(0)
export const noScores: ScoreCounts = { allowed: noRequests, blocked_by_policy: noRequests, other: noRequests }

export type ExampleRequest = {
  readonly event_id: string
  readonly request_id: string | null
  readonly project_id: string | null
  readonly change: ChangeWithExamples
  readonly score_basis_points: number
}

/** The effect of one threshold. */
export type SweepRow = {
  readonly threshold_basis_points: number
  readonly blocked: number
  readonly newly_blocked: number
  readonly newly_allowed: number
}

export type Coverage = {
  /** Events read. */
  readonly events: number
  /** Events in the sample. */
  readonly sampled: number
  /** Sampled events whose texts are stored; only these are replayed. */
  readonly with_text: number
  /** Replayed events of which only the redacted texts are stored. */
  readonly redacted_only: number
  /** Replayed events whose texts are from the replay sample. */
  readonly from_sample: number
}

/** The result of one event. */
export type ReplayedEvent = {
  readonly eventId: string
  readonly requestId: string | null
  readonly projectId: string | null
  readonly threshold: number
  /** A string if there was nothing to replay. */
  readonly replayed: ReplayResult | 'not_sampled' | 'no_text'
}

const noCounts: Counts = { newly_blocked: 0, newly_allowed: 0, changed_reason: 0, unchanged: 0, not_evaluated: 0 }

/** Counts before the first event, with the distinct thresholds in ascending order. */
export const noBacktestCounts = (thresholds: readonly number[]): BacktestCounts => ({
  ...noCounts,
  projects: {},
  sweep: [...new Set(thresholds)]
    .sort((a, b) => a - b)
    .map((threshold) => ({ threshold_basis_points: threshold, blocked: 0, newly_blocked: 0, newly_allowed: 0 })),
  scores: noScores,
  coverage: noCoverage,
  examples: { newly_blocked: [], newly_allowed: [], changed_reason: [], not_evaluated: [] },
  example_requests: [],
})

export function addReplayedEvent(counts: BacktestCounts, event: ReplayedEvent): BacktestCounts {
  const coverage = addCoverage(counts.coverage, event.replayed)
  if (typeof event.replayed === 'string') return { ...counts, coverage }
  const { replayed } = event
  const change = changeOf(replayed, event.threshold)
  const project = event.projectId ?? ''
  return {
    ...addChange(counts, change),
    projects: { ...counts.projects, [project]: addChange(counts.projects[project] ?? noCounts, change) },
    sweep: counts.sweep.map((row) => addToRow(row, replayed)),
    scores: addScore(counts.scores, replayed),
    coverage,
    ...withExample(counts, change, { ...event, replayed }),
  }
}

/** A request without a score is in no range. */
function addScore(scores: ScoreCounts, replayed: ReplayResult): ScoreCounts {
  const { score, isNotEvaluated, wasBlocked, wasBlockedByPolicy } = replayed
  if (isNotEvaluated && score === 0) return scores
  const kind = !wasBlocked ? 'allowed' : wasBlockedByPolicy && !isNotEvaluated ? 'blocked_by_policy' : 'other'
  const range = Math.floor(score / scoreRange)
  return { ...scores, [kind]: scores[kind].with(range, (scores[kind][range] ?? 0) + 1) }
}

/**
 * A request that another rule blocked and the draft would block too stays blocked for a changed reason. A request that this
 * policy blocked and the draft would not is allowed as far as this policy is concerned.
 */
export function changeOf(
  { score, isNotEvaluated, wasBlocked, wasBlockedByPolicy }: ReplayResult,
  threshold: number,
): Change {
  if (score >= threshold) return !wasBlocked ? 'newly_blocked' : wasBlockedByPolicy ? 'unchanged' : 'changed_reason'
  if (isNotEvaluated) return 'not_evaluated'
  return wasBlockedByPolicy ? 'newly_allowed' : 'unchanged'
}

const addChange = <C extends Counts>(counts: C, change: Change): C => ({ ...counts, [change]: counts[change] + 1 })

/** Replayed, or why there was nothing to replay. */
type Covered = TextsOrigin | 'not_sampled' | 'no_text'

export const noCoverage: Coverage = { events: 0, sampled: 0, with_text: 0, redacted_only: 0, from_sample: 0 }

export function addCoverage(coverage: Coverage, replayed: Covered): Coverage {
  const isReplayed = typeof replayed !== 'string'
  return {
    events: coverage.events + 1,
    sampled: coverage.sampled + (replayed === 'not_sampled' ? 0 : 1),
    with_text: coverage.with_text + (isReplayed ? 1 : 0),
    redacted_only: coverage.redacted_only + (isReplayed && replayed.isRedacted ? 1 : 0),
    from_sample: coverage.from_sample + (isReplayed && replayed.isSampled ? 1 : 0),
  }
}

function addToRow(row: SweepRow, replayed: ReplayResult): SweepRow {
  const change = changeOf(replayed, row.threshold_basis_points)
  return {
    ...row,
    blocked: row.blocked + (replayed.score >= row.threshold_basis_points ? 1 : 0),
    newly_blocked: row.newly_blocked + (change === 'newly_blocked' ? 1 : 0),
    newly_allowed: row.newly_allowed + (change === 'newly_allowed' ? 1 : 0),
  }
}

type Examples = Pick<BacktestCounts, 'examples' | 'example_requests'>

function withExample(
  { examples, example_requests: requests }: Examples,
  change: Change,
  { eventId, requestId, projectId, replayed }: ReplayedEvent & { readonly replayed: ReplayResult },
): Examples {
  const kind = changesWithExamples.find((each) => each === change)
  if (kind === undefined || examples[kind].length >= maxExamples) return { examples, example_requests: requests }
  const request: ExampleRequest = {
    event_id: eventId,
    request_id: requestId,
    project_id: projectId,
    change: kind,
    score_basis_points: replayed.score,
  }
  return { examples: { ...examples, [kind]: [...examples[kind], eventId] }, example_requests: [...requests, request] }
}
