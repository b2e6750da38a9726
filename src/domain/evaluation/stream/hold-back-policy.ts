/** How much of a streamed text is held back, and why. */
import {
  alwaysBlockedCategories,
  categories,
  perCategory,
  type Category,
  type PerCategory,
} from '../../moderation/categories.ts'
import { isRephrasedBy } from '../../gateway-config/evaluate.ts'
import { closestLogOdds, flagThreshold } from '../../moderation/classifier.ts'
import { joinMatchers, type StreamMatcher } from '../../moderation/stream-matcher.ts'
import type { Findings } from '../scan/findings.ts'
import { oncePerSharedPlan, type Plan, type SharedPlan } from '../plan.ts'

export type HoldBackPolicy = {
  /** True if a rule needs the whole block before any of it may be sent. */
  readonly holdsWholeBlock: boolean
  /** Starts the search for everything that may make a rule match: denied terms, and the phrases and patterns of policies. */
  startMatcher(): StreamMatcher
  /** Length of the longest denied term or phrase, in counted characters (see `src/domain/moderation/look-behind.ts`). */
  readonly longestTerm: number
  /** The least score of each category from which a rule may match. */
  readonly categoryBounds: PerCategory<number>
  /** True if a rule needs personal data: then text waits until no pending match of personal data is left in it. */
  readonly waitsForPersonalData: boolean
  /** True if a rule may match although no matcher, score or personal data says so: then it is evaluated at every place. */
  readonly evaluatesEveryPlace: boolean
  /** The policies that are evaluated while the text streams: enforced ones that need only a part of it. */
  readonly policies: Plan['policies']
  /** Near the threshold of one of these categories text is held back. */
  readonly blocking: readonly Category[]
}

/** In log-odds, below the threshold: after a request closer than this, whole blocks of the response are held back. */
const nearGap = -3

/** True if the score of one of these categories is close to its threshold. */
export const isNearThreshold = ({ scores }: Findings, among: Iterable<Category>): boolean =>
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
  const terms = denied.length > 0 ? gateway.terms : undefined
  const blocking = new Set<string>([...alwaysBlockedCategories, ...requested, ...flagged])
  return {
    holdsWholeBlock:
      isRequestNearThreshold ||
      partial.length < enforcing.length ||
      (isRephrasedBy(gateway.config) && denied.length + flagged.length > 0),
    startMatcher: () => joinMatchers(terms === undefined ? [] : [terms.startStream()]),
    longestTerm: Math.max(terms?.longest ?? 0, ...partial.map(({ lookBehind }) => lookBehind.characters)),
    categoryBounds: perCategory(() => flagThreshold),
    waitsForPersonalData: partial.some(({ lookBehind }) => lookBehind.personalData),
    evaluatesEveryPlace: partial.length > 0,
    policies: { request: [], response: partial.map(({ policy }) => policy) },
    blocking: categories.filter((category) => blocking.has(category)),
  }
}
