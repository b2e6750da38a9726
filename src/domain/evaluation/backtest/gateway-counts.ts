import { isDenial, type AuditDecision } from '../../audit/event/verdict.ts'
import { addCoverage, maxExamples, noCoverage, type Coverage } from './counts.ts'
import type { TextsOrigin } from './replay-texts.ts'

/** What happens to a request: every decision except one that could not be made. */
export type EffectiveDecision = Exclude<AuditDecision, 'not_evaluated'>

/** What happened to a request when it was made. */
export type RecordedDecision = {
  readonly decision: EffectiveDecision
  /** True if the gateway configuration decided. */
  readonly isByGateway: boolean
}

/** How a configuration would decide on one request, and what happened to the request when it was made. */
export type GatewayReplayResult = {
  readonly recorded: RecordedDecision
  /** The decision of the configuration. */
  readonly candidate: EffectiveDecision
  /** True if another check denies the request: an always blocked category, or a policy in force. */
  readonly isDeniedOtherwise: boolean
  /** Why the change is not known. */
  readonly notEvaluated?: string | undefined
} & TextsOrigin

/** How the outcome of a request would change under the configuration. */
export const gatewayChanges = [
  'newly_blocked',
  'newly_allowed',
  'newly_modified',
  'no_longer_modified',
  'changed_reason',
  'unchanged',
  'not_evaluated',
] as const
export type GatewayChange = (typeof gatewayChanges)[number]
type GatewayChangeCounts = Readonly<Record<GatewayChange, number>>

/** Stored and returned by the API as is, so its fields use the API's names. */
export type GatewayBacktestCounts = GatewayChangeCounts & {
  readonly projects: Readonly<Record<string, GatewayChangeCounts>>
  readonly decisions: readonly DecisionPair[]
  readonly not_evaluated_reasons: Readonly<Record<string, number>>
  readonly coverage: Coverage
  /** Ids only, never texts. */
  readonly example_requests: readonly GatewayExampleRequest[]
}

/** How many requests had one decision and would have another. */
type DecisionPair = {
  readonly recorded: EffectiveDecision
  readonly candidate: EffectiveDecision
  readonly requests: number
}

type GatewayExampleRequest = {
  readonly event_id: string
  readonly request_id: string | null
  readonly project_id: string | null
  readonly change: GatewayChange
  readonly recorded: EffectiveDecision
  readonly candidate: EffectiveDecision
}

/** The result of one event. */
export type GatewayReplayedEvent = {
  readonly eventId: string
  readonly requestId: string | null
  readonly projectId: string | null
  /** A string if there was nothing to replay. */
  readonly replayed: GatewayReplayResult | 'not_sampled' | 'no_text'
}

const noChanges: GatewayChangeCounts = {
  newly_blocked: 0,
  newly_allowed: 0,
  newly_modified: 0,
  no_longer_modified: 0,
  changed_reason: 0,
  unchanged: 0,
  not_evaluated: 0,
}

export const noGatewayCounts: GatewayBacktestCounts = {
  ...noChanges,
  projects: {},
  decisions: [],
  not_evaluated_reasons: {},
  coverage: noCoverage,
  example_requests: [],
}

export function addGatewayEvent(counts: GatewayBacktestCounts, event: GatewayReplayedEvent): GatewayBacktestCounts {
  const coverage = addCoverage(counts.coverage, event.replayed)
  if (typeof event.replayed === 'string') return { ...counts, coverage }
  const { recorded, candidate, notEvaluated } = event.replayed
  const change = gatewayChangeOf(event.replayed)
  const project = event.projectId ?? ''
  const reasons = counts.not_evaluated_reasons
  return {
    ...counts,
    [change]: counts[change] + 1,
    projects: { ...counts.projects, [project]: withChange(counts.projects[project] ?? noChanges, change) },
    decisions: change === 'not_evaluated' ? counts.decisions : withPair(counts.decisions, recorded.decision, candidate),
    not_evaluated_reasons:
      notEvaluated === undefined ? reasons : { ...reasons, [notEvaluated]: (reasons[notEvaluated] ?? 0) + 1 },
    coverage,
    example_requests: withExample(counts.example_requests, change, { ...event, replayed: event.replayed }),
  }
}

/**
 * Only what the configuration changes counts. A request that a policy denied then is unchanged even if that policy is gone,
 * and one that the configuration denied is newly allowed only if no other check denies it.
 */
function gatewayChangeOf(result: GatewayReplayResult): GatewayChange {
  const { recorded, candidate, isDeniedOtherwise, notEvaluated } = result
  if (notEvaluated !== undefined) return 'not_evaluated'
  const isSame = recorded.isByGateway && recorded.decision === candidate
  if (isDenial(candidate)) {
    if (!isDenial(recorded.decision)) return 'newly_blocked'
    return isSame ? 'unchanged' : 'changed_reason'
  }
  if (isDenial(recorded.decision)) {
    if (!recorded.isByGateway) return 'unchanged'
    return isDeniedOtherwise ? 'changed_reason' : 'newly_allowed'
  }
  const wasModified = recorded.decision !== 'allow'
  if (candidate === 'allow') return wasModified ? 'no_longer_modified' : 'unchanged'
  if (!wasModified) return 'newly_modified'
  return isSame ? 'unchanged' : 'changed_reason'
}

const withChange = (counts: GatewayChangeCounts, change: GatewayChange): GatewayChangeCounts => ({
  ...counts,
  [change]: counts[change] + 1,
})

function withPair(
  pairs: readonly DecisionPair[],
  recorded: EffectiveDecision,
  candidate: EffectiveDecision,
): readonly DecisionPair[] {
  const at = pairs.findIndex((pair) => pair.recorded === recorded && pair.candidate === candidate)
  const known = pairs[at]
  if (known === undefined) return [...pairs, { recorded, candidate, requests: 1 }]
  return pairs.with(at, { ...known, requests: known.requests + 1 })
}

function withExample(
  examples: readonly GatewayExampleRequest[],
  change: GatewayChange,
  event: GatewayReplayedEvent & { readonly replayed: GatewayReplayResult },
): readonly GatewayExampleRequest[] {
  if (change === 'unchanged') return examples
  if (examples.filter((example) => example.change === change).length >= maxExamples) return examples
  const { recorded, candidate } = event.replayed
  return [
    ...examples,
    {
      event_id: event.eventId,
      request_id: event.requestId,
      project_id: event.projectId,
      change,
      recorded: recorded.decision,
      candidate,
    },
  ]
}
