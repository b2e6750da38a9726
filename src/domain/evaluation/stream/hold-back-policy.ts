/** How much of a streamed text is held back, and why. */
import { alwaysBlockedCategories, type Category } from '../../moderation/categories.ts'
import { isRephrasedBy } from '../../gateway-config/evaluate.ts'
import { closestLogOdds } from '../../moderation/classifier.ts'
import type { Terms } from '../../moderation/terms.ts'
import type { Findings } from '../scan/findings.ts'
import { oncePerSharedPlan, type Plan, type SharedPlan } from '../plan.ts'

export type HoldBackPolicy = {
  /** True if a rule needs the whole block before any of it may be sent. */
  readonly holdsWholeBlock: boolean
  /** Longest possible match of a policy, in counted characters (see `look-behind.ts`). */
  readonly lookBehindLength: number
  /** The denied terms; undefined if none are enforced. */
  readonly terms: Terms | undefined
  /** True if a rule needs personal data: then text waits until no pending match of personal data is left in it. */
  readonly waitsForPersonalData: boolean
  /** The policies that are evaluated while the text streams: enforced ones that need only a part of it. */
  readonly policies: Plan['policies']
  /** Near the threshold of one of these categories nothing is sent until the text is clean again. */
  readonly blocking: ReadonlySet<Category>
}

/** In log-odds, below the threshold: a text closer than this is held back. */
const nearGap = -3

/** True if the score of one of these categories is close to its threshold. */
export const isNearThreshold = ({ scores }: Findings, among: ReadonlySet<Category>): boolean =>
  closestLogOdds({ scores }, among) > nearGap

/** The policy for a response under this plan. If the request was near a threshold, whole blocks are held back. */
export const holdBackPolicyOf = (plan: Plan, isRequestNearThreshold: boolean): HoldBackPolicy =>
  isRequestNearThreshold ? nearThresholdPolicy(plan) : cleanPolicy(plan)

const cleanPolicy = oncePerSharedPlan((plan) => createHoldBackPolicy(plan, false))
const nearThresholdPolicy = oncePerSharedPlan((plan) => createHoldBackPolicy(plan, true))

function createHoldBackPolicy(plan: SharedPlan, isRequestNearThreshold: boolean): HoldBackPolicy {
  const { gateway, rollout, requested } = plan
  const { rules } = gateway.config
  const denied = rollout.isEnforced ? rules.denylist : []
  const flagged = rollout.isEnforced ? rules.flagged_categories : []
  const enforcing = plan.policies.response.filter(({ mode }) => mode === 'enforcing')
  const partial = enforcing.flatMap((policy) =>
    policy.rule.lookBehind === 'whole' ? [] : [{ policy, lookBehind: policy.rule.lookBehind }],
  )
  const isPattern = (term: string): boolean => term.startsWith('/')
  return {
    holdsWholeBlock:
      isRequestNearThreshold ||
      partial.length < enforcing.length ||
      denied.some(isPattern) ||
      (isRephrasedBy(gateway.config) && denied.length + flagged.length > 0),
    lookBehindLength: Math.max(0, ...partial.map(({ lookBehind }) => lookBehind.characters)),
    terms: denied.length > 0 ? gateway.terms : undefined,
    waitsForPersonalData: partial.some(({ lookBehind }) => lookBehind.personalData),
    policies: { request: [], response: partial.map(({ policy }) => policy) },
    blocking: new Set<Category>([...alwaysBlockedCategories, ...requested, ...flagged]),
  }
}
