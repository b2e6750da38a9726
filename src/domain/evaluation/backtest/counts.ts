import type { ReplayResult } from './replay-result.ts'

/** What would become of a request under the draft, against what became of it. */
export const changes = ['newly_blocked', 'newly_allowed', 'changed_reason', 'unchanged', 'not_evaluated'] as const
export type Change = (typeof changes)[number]
type Counts = Readonly<Record<Change, number>>

/** Changes that are worth an example. */
const exemplified = ['newly_blocked', 'newly_allowed', 'changed_reason', 'not_evaluated'] as const
type Exemplified = (typeof exemplified)[number]
const mostExamples = 20

/** Kept, and shown, as it is; so its fields are spelled as callers spell them. */
export type BacktestCounts = Counts & {
  readonly projects: Readonly<Record<string, Counts>>
  readonly sweep: readonly SweepRow[]
  readonly coverage: Coverage
  /** Ids of events, never what was said. */
  readonly examples: Readonly<Record<Exemplified, readonly string[]>>
}

/** What one threshold would do. */
export type SweepRow = {
  readonly threshold_basis_points: number
  readonly blocked: number
  readonly newly_blocked: number
  readonly newly_allowed: number
}

export type Coverage = {
  /** Events that were looked at. */
  readonly events: number
  /** Of these, those that the sample took. */
  readonly sampled: number
  /** Of these, those whose texts are kept; only they are replayed. */
  readonly with_text: number
  /** Of these, those with nothing but texts from which personal data was taken. */
  readonly redacted_only: number
}

/** What was found in one event. */
export type ReplayedEvent = {
  readonly eventId: string
  readonly projectId: string | null
  readonly threshold: number
  /** Not sampled, or without text: there was nothing to replay. */
  readonly replayed: ReplayResult | 'not_sampled' | 'no_text'
}

const noCounts: Counts = { newly_blocked: 0, newly_allowed: 0, changed_reason: 0, unchanged: 0, not_evaluated: 0 }

/** Nothing looked at yet; the thresholds in order, each once. */
export const noBacktestCounts = (thresholds: readonly number[]): BacktestCounts => ({
  ...noCounts,
  projects: {},
  sweep: [...new Set(thresholds)]
    .sort((a, b) => a - b)
    .map((threshold) => ({ threshold_basis_points: threshold, blocked: 0, newly_blocked: 0, newly_allowed: 0 })),
  coverage: { events: 0, sampled: 0, with_text: 0, redacted_only: 0 },
  examples: { newly_blocked: [], newly_allowed: [], changed_reason: [], not_evaluated: [] },
})

export function addReplayedEvent(tally: BacktestCounts, look: ReplayedEvent): BacktestCounts {
  const coverage = covered(tally.coverage, look.replayed)
  if (typeof look.replayed === 'string') return { ...tally, coverage }
  const { replayed } = look
  const change = changeOf(replayed, look.threshold)
  const project = look.projectId ?? ''
  return {
    ...counted(tally, change),
    projects: { ...tally.projects, [project]: counted(tally.projects[project] ?? noCounts, change) },
    sweep: tally.sweep.map((row) => swept(row, replayed)),
    coverage,
    examples: withExample(tally.examples, change, look.eventId),
  }
}

/**
 * Blocked by something else and by the draft too: the request stays blocked, and has another reason. What this policy had
 * blocked and the draft does not is allowed as far as this policy goes.
 */
export function changeOf({ score, isUnjudged, wasBlocked, wasByThis }: ReplayResult, threshold: number): Change {
  if (score >= threshold) return !wasBlocked ? 'newly_blocked' : wasByThis ? 'unchanged' : 'changed_reason'
  if (isUnjudged) return 'not_evaluated'
  return wasByThis ? 'newly_allowed' : 'unchanged'
}

const counted = <C extends Counts>(counts: C, change: Change): C => ({ ...counts, [change]: counts[change] + 1 })

function covered(coverage: Coverage, replayed: ReplayedEvent['replayed']): Coverage {
  const isReplayed = typeof replayed !== 'string'
  return {
    events: coverage.events + 1,
    sampled: coverage.sampled + (replayed === 'not_sampled' ? 0 : 1),
    with_text: coverage.with_text + (isReplayed ? 1 : 0),
    redacted_only: coverage.redacted_only + (isReplayed && replayed.isRedacted ? 1 : 0),
  }
}

function swept(row: SweepRow, replayed: ReplayResult): SweepRow {
  const change = changeOf(replayed, row.threshold_basis_points)
  return {
    ...row,
    blocked: row.blocked + (replayed.score >= row.threshold_basis_points ? 1 : 0),
    newly_blocked: row.newly_blocked + (change === 'newly_blocked' ? 1 : 0),
    newly_allowed: row.newly_allowed + (change === 'newly_allowed' ? 1 : 0),
  }
}

function withExample(
  examples: BacktestCounts['examples'],
  change: Change,
  eventId: string,
): BacktestCounts['examples'] {
  const kind = exemplified.find((each) => each === change)
  if (kind === undefined || examples[kind].length >= mostExamples) return examples
  return { ...examples, [kind]: [...examples[kind], eventId] }
}
