/** Lists the result of every check of a verdict, also of those that allowed the text. */
import { alwaysBlockedCategories, type Category } from '../../scan/classify/categories.ts'
import { flagThreshold } from '../../scan/classify/classifier.ts'
import { thresholdOf } from '../../policy/content.ts'
import type { ActivePolicy } from '../rulebook.ts'
import type { Simulation } from '../simulate.ts'
import type { Decision } from './combine.ts'
import { moderationAllowance } from './decisions.ts'

export type Outcome = Decision & {
  readonly name: string | undefined
  readonly thresholdBasisPoints: number | undefined
}

/** In the order of evaluation: always blocked categories, requested categories, gateway configuration, prompt injections that were found, policies. */
export function outcomesOf(simulation: Simulation): readonly Outcome[] {
  const { plan, verdict, findings, scenario, notApplied } = simulation
  const { decisions } = verdict
  const ofModeration = (check: Decision['check'], names: readonly Category[]): readonly Outcome[] => {
    if (names.length === 0) return []
    const found = decisions.find((decision) => decision.check === check)
    const decision = found ?? moderationAllowance(plan, check, Math.max(...names.map((name) => findings.scores[name])))
    return [{ ...decision, name: undefined, thresholdBasisPoints: flagThreshold * 10_000 }]
  }
  const ofPolicy = (policy: ActivePolicy): Outcome => {
    const decision = decisions.find(({ check, policyId }) => check === 'policy' && policyId === policy.id)
    return policyOutcome(policy, decision ?? unevaluated(policy, 'denied_earlier'))
  }
  return [
    ...ofModeration('always_blocked', alwaysBlockedCategories),
    ...ofModeration('requested', plan.requested),
    ...decisions
      .filter(({ check }) => check === 'gateway' || check === 'prompt_injection')
      .map((decision) => ({
        ...decision,
        name: plan.gateway.config.name ?? undefined,
        thresholdBasisPoints: decision.thresholdBasisPoints,
      })),
    ...plan.policies[scenario.direction].map(ofPolicy),
    ...notApplied.map((policy) => policyOutcome(policy, unevaluated(policy, reasonNotApplied(policy, simulation)))),
  ]
}

const policyOutcome = (policy: ActivePolicy, decision: Decision): Outcome => ({
  ...decision,
  name: policy.name,
  thresholdBasisPoints: thresholdOf(policy),
})

/** Why a policy has no decision: the text was denied before it was evaluated, or it does not apply. */
const unevaluated = ({ id, version, mode, rollout }: ActivePolicy, notEvaluated: string): Decision => ({
  check: 'policy',
  decision: 'not_evaluated',
  effect: 'allow',
  isEnforced: mode === 'enforcing',
  rolloutMode: rollout !== undefined ? 'canary' : mode === 'enforcing' ? 'enforced' : 'shadow',
  reasonCode: 'NOT_EVALUATED',
  policyId: id,
  version,
  triggeredCategories: [],
  notEvaluated,
})

const reasonNotApplied = ({ direction }: ActivePolicy, { scenario }: Simulation): string =>
  direction === 'both' || direction === scenario.direction ? 'other_project' : 'other_direction'
