import { isRecord } from '../../../base/record.ts'
import { rowOf } from '../../audit/chain/chained-event.ts'
import { gatehouseField } from '../../audit/event/document.ts'
import { decisions, isDenial } from '../../audit/event/verdict.ts'
import type { LoggedEvent } from '../../audit/log.ts'
import { defaultConfiguration, unsaved } from '../../gateway-config/configuration.ts'
import { isOptionalCategory } from '../../scan/classify/categories.ts'
import type { PatternEngine } from '../../scan/detect/patterns.ts'
import { placeholders } from '../../scan/detect/personal-data/placeholder.ts'
import type { Evaluate } from '../evaluate.ts'
import { planFor, type EvaluationContext } from '../plan.ts'
import type { Gateway, Rulebook, RulebookOf } from '../rulebook.ts'
import { compileGateway } from '../rulebooks.ts'
import { withoutJudge } from '../simulate.ts'
import { combine, isDenied, withDecisions, type Verdict } from '../verdict/combine.ts'
import type { GatewayBacktest } from './backtest.ts'
import type { GatewayReplayedEvent, GatewayReplayResult, RecordedDecision } from './gateway-counts.ts'
import {
  originOf,
  replayedTexts,
  replayTextsOf,
  samplePositionOf,
  scannedReplayTexts,
  type ReplayTexts,
  type StoredRequest,
} from './replay-texts.ts'

export type GatewayReplayParts = {
  readonly evaluate: Evaluate
  readonly rulebookOf: RulebookOf
  readonly patterns: PatternEngine
}

/** Evaluates the configuration of a backtest on one event at a time, with the `Evaluate` function that requests use. */
export type GatewayReplay = (
  backtest: GatewayBacktest,
) => Promise<(event: StoredRequest) => Promise<GatewayReplayedEvent>>

export function createGatewayReplay({ evaluate, rulebookOf, patterns }: GatewayReplayParts): GatewayReplay {
  /** A backtest is replayed in many batches, and compiling thousands of terms is slow. */
  let lastCompiled: { readonly backtestId: string; readonly gateway: Gateway } | undefined

  return async (backtest) => {
    const { organizationId, parameters } = backtest
    const gateway = gatewayOf(backtest)
    const inForce = (await rulebookOf(organizationId)).policies.map(withoutJudge)
    const alone: Rulebook = { organizationId, gateway, policies: [] }
    const withPolicies: Rulebook = { organizationId, gateway, policies: inForce }
    return async (event) => {
      const { projectId, requestId } = rowOf(event.document, '')
      const identity = { eventId: event.id, projectId, requestId }
      if (samplePositionOf(event.id) >= parameters.samplePercent) return { ...identity, replayed: 'not_sampled' }
      const texts = replayTextsOf(event)
      if (!texts) return { ...identity, replayed: 'no_text' }
      const origin = originOf(texts)
      const recorded = recordedDecisionOf(event)
      if (recorded === undefined) return { ...identity, replayed: { ...notDecided, ...origin } }
      const verdict = await verdictOf(alone, event, texts)
      const candidate = candidateDecisionOf(verdict, gateway, texts)
      // Policies matter only for what the configuration denied then and would not now.
      const wasDenied = recorded.isByGateway && isDenial(recorded.decision)
      const others = wasDenied && !isDenied(verdict) ? await verdictOf(withPolicies, event, texts) : verdict
      const otherwise = isDenial(candidate) ? denies : deniedOtherwise(others, withPolicies)
      return { ...identity, replayed: { recorded, candidate, ...origin, ...otherwise } }
    }
  }

  /** The rollout is left out, as the mode of a policy is: the result is that of a configuration that is enforced for everybody. */
  function gatewayOf({ id, parameters }: GatewayBacktest): Gateway {
    if (lastCompiled?.backtestId !== id) {
      const config = { ...parameters.config, rollout: defaultConfiguration.rollout }
      lastCompiled = { backtestId: id, gateway: compileGateway({ ...unsaved, config }, patterns) }
    }
    return lastCompiled.gateway
  }

  /** A request that is denied gets no response, so its response is not evaluated. */
  async function verdictOf(rulebook: Rulebook, event: StoredRequest, texts: ReplayTexts): Promise<Verdict> {
    const plan = planFor(rulebook, contextOf(event, rulebook))
    let verdict: Verdict = combine([])
    for (const one of replayedTexts(texts)) {
      const evaluation = await evaluate(plan, scannedReplayTexts(plan, one, event))
      verdict = withDecisions(verdict, evaluation.verdict.decisions)
      if (isDenied(verdict)) return verdict
    }
    return verdict
  }
}

/** What happened to the request; undefined if it was rejected before any check decided on it. */
function recordedDecisionOf({ document }: LoggedEvent): RecordedDecision | undefined {
  const isEnforced = document.unmapped.gatehouse['is_enforced'] !== false
  const name = gatehouseField(document, 'decision')
  const decision = decisions.find((each) => each === name) ?? 'not_evaluated'
  if (decision === 'not_evaluated') return document.status_id === 2 ? undefined : allowed
  const check = gatehouseField(document, 'check')
  return isEnforced ? { decision, isByGateway: check === 'gateway' || check === 'prompt_injection' } : allowed
}

const allowed: RecordedDecision = { decision: 'allow', isByGateway: false }

const notDecided = {
  recorded: allowed,
  candidate: 'allow',
  isDeniedOtherwise: false,
  notEvaluated: 'rejected_before_checks',
} as const

/** The configuration denies the request, so it does not matter what the others do. */
const denies = { isDeniedOtherwise: false }

/** Where only the redacted text was stored, its placeholders tell that it had personal data. */
function candidateDecisionOf(
  verdict: Verdict,
  { config }: Gateway,
  texts: ReplayTexts,
): GatewayReplayResult['candidate'] {
  const decided = verdict.decisions.find(({ check }) => check === 'gateway')?.effect ?? 'allow'
  const blocksInjection = verdict.decisions.some(({ check, isEnforced }) => check === 'prompt_injection' && isEnforced)
  if (blocksInjection && !isDenial(decided)) return 'refuse'
  if (decided !== 'allow' || !config.rules.redact || !texts.isRedacted) return decided
  return replayedTexts(texts).some(({ text }) => text.search(placeholders) !== -1) ? 'redact' : 'allow'
}

/** Whether a check other than the configuration denies the request, or why that is not known. */
function deniedOtherwise(
  verdict: Verdict,
  { policies }: Rulebook,
): Pick<GatewayReplayResult, 'isDeniedOtherwise' | 'notEvaluated'> {
  if (isDenied(verdict)) return { isDeniedOtherwise: true }
  const enforced = verdict.decisions.filter(({ check, isEnforced }) => check === 'policy' && isEnforced)
  const unknown = enforced.find(({ decision }) => decision === 'not_evaluated')
  if (unknown) return { isDeniedOtherwise: false, notEvaluated: unknown.notEvaluated ?? 'not_evaluated' }
  const readsMetadata = policies.some(
    ({ id, rule }) =>
      enforced.some(({ policyId }) => policyId === id) &&
      rule.names.some(({ kind, name }) => kind === 'variable' && name === 'metadata'),
  )
  return { isDeniedOtherwise: false, ...(readsMetadata && { notEvaluated: 'metadata_missing' }) }
}

/** What the audit log knows of the request: not its metadata. */
function contextOf({ document }: LoggedEvent, { policies }: Rulebook): EvaluationContext {
  const { projectId, userId, actorId, timeMs } = rowOf(document, '')
  const { categories_requested: requested, results } = document.unmapped.gatehouse
  const evaluated = new Set(listOf(results).map((result) => (isRecord(result) ? result['policy_id'] : undefined)))
  return {
    model: document.ai_model?.name ?? '',
    project: projectId ?? '',
    user: userId ?? undefined,
    credentialId: actorId ?? '',
    metadata: {},
    target: undefined,
    // The request named these policies.
    policyIds: policies.flatMap(({ id, scope }) => (scope === 'unattached' && evaluated.has(id) ? [id] : [])),
    flaggedCategories: listOf(requested).filter((name) => typeof name === 'string' && isOptionalCategory(name)),
    atMs: timeMs,
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
