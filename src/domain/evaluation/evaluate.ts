import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { evaluateGateway } from '../gateway-config/evaluate.ts'
import type { TextDirection } from '../scan/classify/classifier.ts'
import type { RuleScore } from '../policy/rule-score.ts'
import { thresholdOf } from '../policy/content.ts'
import { createCollectFindings, type CollectFindingsParts, type ScannedTexts } from './scan/collect-findings.ts'
import {
  addFindings,
  hasNoFindings,
  isClean,
  isZero,
  noFindings,
  zeroScore,
  type CollectedFindings,
  type Findings,
} from './findings.ts'
import { combine, type Decision, type Verdict } from './verdict/combine.ts'
import { hasTextExceptions, withExceptedTexts, type DecideOn } from './excepted-texts.ts'
import { gatewayDecision, injectionDecisions, moderationDecisions, policyDecision } from './verdict/decisions.ts'
import { oncePerSharedPlan, type Plan, type SharedPlan } from './plan.ts'
import type { ActivePolicy } from './rulebook.ts'

export type EvaluateParts = CollectFindingsParts & {
  /** Whether a judge model is configured that can rephrase a text. */
  readonly canRephrase: boolean
  /** Whether a text passes if a rule could not be evaluated because of a failure. */
  readonly failsOpen: boolean
  /** Report denials only; leave out decisions that allow the text. */
  readonly reportsDenialsOnly?: boolean
}

export type Evaluation = {
  readonly verdict: Verdict
  readonly findings: Findings
  /** The texts that hit a denylist term or a flagged category of the gateway configuration. */
  readonly offendingTexts: readonly string[]
}

/** Scans texts, evaluates every rule of the plan and combines the decisions. Used for requests, responses, simulations and backtests. */
export type Evaluate = (plan: Plan, texts: ScannedTexts) => MaybePromise<Evaluation>

export function createEvaluate(parts: EvaluateParts): Evaluate {
  const { canRephrase, failsOpen, reportsDenialsOnly = false } = parts
  const collectFindings = createCollectFindings(parts)
  const cleanVerdict = {
    request: oncePerSharedPlan((plan) => cleanVerdictOf(plan, 'request')),
    response: oncePerSharedPlan((plan) => cleanVerdictOf(plan, 'response')),
  }

  const hasExceptedTexts = {
    request: oncePerSharedPlan(({ policies }) => hasTextExceptions(policies.request)),
    response: oncePerSharedPlan(({ policies }) => hasTextExceptions(policies.response)),
  }

  return (plan, texts) =>
    andThen(collectFindings(plan, texts), (collected) => {
      const evaluation = evaluateAll(plan, texts, collected)
      return hasExceptedTexts[texts.direction](plan) ? exceptTexts(plan, texts, evaluation) : evaluation
    })

  function exceptTexts(plan: Plan, texts: ScannedTexts, evaluation: Evaluation): MaybePromise<Evaluation> {
    const { verdict } = evaluation
    if (verdict.decisions.length === 0) return evaluation
    const policies = plan.policies[texts.direction]
    const decideOn: DecideOn = (others, policy, at) =>
      andThen(collectFindings(plan, others), ({ scores }) =>
        policyDecision(policy, { scores, at }, { plan, failsOpen }),
      )
    return andThen(withExceptedTexts(verdict, texts, { policies, decideOn }), (result) =>
      result === verdict ? evaluation : { ...evaluation, verdict: result },
    )
  }

  function evaluateAll(
    plan: Plan,
    { texts, direction, givenCategories }: ScannedTexts,
    collected: CollectedFindings,
  ): Evaluation {
    const { offendingTexts, scores } = collected
    const findings = givenCategories
      ? addFindings(collected.findings, { ...noFindings, categories: givenCategories })
      : collected.findings
    if (findings.stage !== undefined || findings.categories.length > 0) plan.stageLog?.note(findings, direction)
    if (reportsDenialsOnly && hasNoFindings(findings) && matchesNoPolicy(plan.policies[direction], scores)) {
      return { verdict: allowed, findings, offendingTexts }
    }
    if (texts.length > 0 && isClean({ findings, scores })) {
      return { verdict: cleanVerdict[direction](plan), findings, offendingTexts }
    }
    return { verdict: verdictOn(plan, direction, { findings, scores }), findings, offendingTexts }
  }

  /** The verdict on texts without findings to which every policy gave a score of 0. */
  function cleanVerdictOf(plan: SharedPlan, direction: TextDirection): Verdict {
    const ofPolicies = plan.policies[direction].map((policy) =>
      policyDecision(policy, { scores: [[zeroScore]], at: 0 }, { plan, failsOpen }),
    )
    return combine([...findingDecisions(plan, direction, noFindings), ...ofPolicies])
  }

  /** Only what differs from the clean verdict is decided again, because most policies give a score of 0. */
  function verdictOn(plan: SharedPlan, direction: TextDirection, { findings, scores }: DecisionInput): Verdict {
    const policies = plan.policies[direction]
    const clean = cleanVerdict[direction](plan).decisions
    const decisions = hasNoFindings(findings)
      ? clean.slice()
      : [...findingDecisions(plan, direction, findings), ...clean.slice(clean.length - policies.length)]
    const first = decisions.length - policies.length
    policies.forEach((policy, at) => {
      if (areZeroFor(at, scores)) return
      decisions[first + at] = policyDecision(policy, { scores, at }, { plan, failsOpen })
    })
    return combine(decisions)
  }

  /** The decisions of moderation, of the gateway configuration, and on prompt injections. */
  function findingDecisions(plan: SharedPlan, direction: TextDirection, findings: Findings): readonly Decision[] {
    const ofGateway = evaluateGateway(plan.gateway.config, { ...findings, direction, canRephrase })
    return [
      ...moderationDecisions(plan, findings),
      gatewayDecision(plan, ofGateway),
      ...injectionDecisions(plan, findings),
    ]
  }
}

/** True if a policy was evaluated and gave each text a score of 0. */
function areZeroFor(policy: number, scores: CollectedFindings['scores']): boolean {
  for (const ofText of scores) if (!isZero(ofText[policy])) return false
  return scores.length > 0
}

type DecisionInput = Pick<CollectedFindings, 'findings' | 'scores'>

/** True if every policy was evaluated and none matches: then no policy can deny the text. */
const matchesNoPolicy = (policies: readonly ActivePolicy[], scores: CollectedFindings['scores']): boolean =>
  policies.length === 0 || scores.every((ofText) => policies.every((policy, at) => isBelow(policy, ofText[at])))

const isBelow = (policy: ActivePolicy, score: RuleScore | undefined): boolean =>
  score !== undefined && 'basisPoints' in score && score.basisPoints < thresholdOf(policy)

const allowed: Verdict = combine([])
