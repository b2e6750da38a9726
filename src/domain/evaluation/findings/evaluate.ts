import { andThen, type MaybePromise } from '../../../base/maybe-promise.ts'
import { evaluateGateway } from '../../gateway-config/evaluate.ts'
import type { TextDirection } from '../../moderation/classifier.ts'
import type { RuleScore } from '../../policy/compiled-rule.ts'
import { addFindings, isNothing, nothingFound, type Findings } from './findings.ts'
import { isClean, type TextFindings } from './text-findings.ts'
import { createCollectFindings, type CollectFindingsParts, type ScannedTexts } from './collect-findings.ts'
import { combine, type Verdict } from '../verdict/outcome.ts'
import { gatewayOutcome, moderationOutcomes, policyOutcome, thresholdOf } from '../verdict/outcomes.ts'
import { oncePerSharedPlan, type Plan, type SharedPlan } from '../rules/plan.ts'
import type { ActivePolicy } from '../rules/rulebook.ts'

export type EvaluateParts = CollectFindingsParts & {
  /** Whether a judge model can write a text anew. */
  readonly canRephrase: boolean
  /** Whether a rule that should have been judged and was not lets the text pass. */
  readonly failsOpen: boolean
  /** Only what stands against a text is wanted, not who had nothing against it. */
  readonly wantsDenialsOnly?: boolean
}

export type Evaluation = {
  readonly verdict: Verdict
  readonly findings: Findings
  /** The texts that the gateway's own lists and categories hit. */
  readonly offending: readonly string[]
}

/** The one judgement of all checks, for a request, for an answer, and for a simulation. */
export type Evaluate = (plan: Plan, texts: ScannedTexts) => MaybePromise<Evaluation>

export function createEvaluate(parts: EvaluateParts): Evaluate {
  const { canRephrase, failsOpen, wantsDenialsOnly = false } = parts
  const look = createCollectFindings(parts)
  const calmVerdict = {
    request: oncePerSharedPlan((plan) => calmVerdictOf(plan, 'request')),
    response: oncePerSharedPlan((plan) => calmVerdictOf(plan, 'response')),
  }

  return (plan, texts) => andThen(look(plan, texts), (found) => judge(plan, texts, found))

  function judge(plan: Plan, { texts, direction, givenCategories }: ScannedTexts, found: TextFindings): Evaluation {
    const { offending, scores } = found
    const findings = givenCategories
      ? addFindings(found.findings, { ...nothingFound, categories: givenCategories })
      : found.findings
    if (wantsDenialsOnly && isNothing(findings) && isFarFromAll(plan.policies[direction], scores)) {
      return { verdict: allowed, findings, offending }
    }
    if (texts.length > 0 && isClean({ findings, scores })) {
      return { verdict: calmVerdict[direction](plan), findings, offending }
    }
    return { verdict: verdictOn(plan, direction, { findings, scores }), findings, offending }
  }

  /** What is said of texts in which nothing was found, and to which every policy gave 0. */
  function calmVerdictOf(plan: SharedPlan, direction: TextDirection): Verdict {
    return verdictOn(plan, direction, { findings: nothingFound, scores: [plan.policies[direction].map(() => zero)] })
  }

  function verdictOn(plan: SharedPlan, direction: TextDirection, { findings, scores }: Judged): Verdict {
    const personalDataCount = Object.values(findings.personalData).reduce((sum, count) => sum + count, 0)
    const rules = { plan, failsOpen }
    const ofPolicies = plan.policies[direction].map((policy, at) => policyOutcome(policy, saidBy(at, scores), rules))
    const decided = evaluateGateway(plan.gateway.config, { ...findings, direction, personalDataCount, canRephrase })
    return combine([...moderationOutcomes(plan, findings), gatewayOutcome(plan, decided), ...ofPolicies])
  }
}

/** What one policy said, text by text. */
function saidBy(policy: number, scores: TextFindings['scores']): readonly RuleScore[] {
  const said: RuleScore[] = []
  for (const ofText of scores) {
    const score = ofText[policy]
    if (score !== undefined) said.push(score)
  }
  return said
}

type Judged = Pick<TextFindings, 'findings' | 'scores'>

/** Whether every policy was judged, and none matches: then none of them can deny anything. */
const isFarFromAll = (policies: readonly ActivePolicy[], scores: TextFindings['scores']): boolean =>
  policies.length === 0 || scores.every((ofText) => policies.every((policy, at) => isFar(policy, ofText[at])))

const isFar = (policy: ActivePolicy, score: RuleScore | undefined): boolean =>
  score !== undefined && 'basisPoints' in score && score.basisPoints < thresholdOf(policy)

const allowed: Verdict = combine([])
const zero: RuleScore = { basisPoints: 0 }
