/** How much of a streamed text is held back, and why. */
import {
  alwaysBlockedCategories,
  categories,
  perCategory,
  type Category,
  type PerCategory,
} from '../../scan/classify/categories.ts'
import { isRephrasedBy } from '../../gateway-config/evaluate.ts'
import { closestLogOdds, flagThreshold } from '../../scan/classify/classifier.ts'
import { joinDetectors, type Detector } from '../../scan/detect/detector.ts'
import type { Findings } from '../findings.ts'
import { textExceptionsOf } from '../excepted-texts.ts'
import type { PrefilterOf } from '../scan/policy-prefilter.ts'
import type { ActivePolicy } from '../rulebook.ts'
import { oncePerSharedPlan, type Plan, type SharedPlan } from '../plan.ts'

export type HoldBackPolicy = {
  /** True if a rule needs the whole block before any of it may be sent. */
  readonly holdsWholeBlock: boolean
  /** Starts the search for everything that may make a rule match: denied terms, and the phrases and patterns of policies. */
  startDetector(): Detector
  /** Length of the longest denied term or phrase, in counted characters (see `src/domain/scan/normalise/look-behind.ts`). */
  readonly longestTerm: number
  /** Length of the longest term or phrase that is also searched in encoded text. Patterns and expressions see only the plain text. */
  readonly longestEncodedTerm: number
  /** The least score of each category from which a rule may match. */
  readonly categoryBounds: PerCategory<number>
  /** True if a rule needs personal data: then text waits until no pending match of personal data is left in it. */
  readonly waitsForPersonalData: boolean
  /** True if a rule may match although no detector, score or personal data says so: then it is evaluated at every decision point. */
  readonly evaluatesEveryPoint: boolean
  /** The policies that are evaluated while the text streams: enforced ones that need only a part of it. */
  readonly policies: Plan['policies']
  /** Those of them that can match in a part of the text that does not begin at its start. */
  readonly laterPolicies: Plan['policies']
  /** Enforced policies whose judge evaluates one paragraph after the other. */
  readonly windowed: Plan['policies']
  /** Near the threshold of one of these categories text is held back. */
  readonly blocking: readonly Category[]
}

/** In log-odds, below the threshold: after a request closer than this, whole blocks of the response are held back. */
const nearGap = -3

/** True if the score of one of these categories is close to its threshold. */
export const isNearThreshold = ({ scores }: Findings, among: Iterable<Category>): boolean =>
  closestLogOdds({ scores }, among) > nearGap

/**
 * How much of a response is evaluated before any of it is sent. `whole`: each block. `paragraph`: one paragraph after the other.
 * `held_back`: as much as may still be denied.
 */
export type ResponseCoverage = 'held_back' | 'paragraph' | 'whole'

/** The coverage that the rules require. A pending match may hold back more. */
export function requiredCoverage({ holdsWholeBlock, windowed }: HoldBackPolicy): ResponseCoverage {
  if (holdsWholeBlock) return 'whole'
  return windowed.response.length > 0 ? 'paragraph' : 'held_back'
}

/** The policy for a response under this plan. If the request was near a threshold, whole blocks are held back. */
export type HoldBackPolicyOf = (plan: Plan, isRequestNearThreshold: boolean) => HoldBackPolicy

export function createHoldBackPolicies(prefilterOf: PrefilterOf): HoldBackPolicyOf {
  const clean = oncePerSharedPlan((plan) => createHoldBackPolicy(plan, prefilterOf))
  const nearThreshold = oncePerSharedPlan((plan) => ({
    ...createHoldBackPolicy(plan, prefilterOf),
    holdsWholeBlock: true,
  }))
  return (plan, isRequestNearThreshold) => (isRequestNearThreshold ? nearThreshold : clean)(plan)
}

function createHoldBackPolicy(plan: SharedPlan, prefilterOf: PrefilterOf): HoldBackPolicy {
  const { gateway, rollout, requested } = plan
  const { rules } = gateway.config
  const denied = rollout.isEnforced ? rules.denylist : []
  const flagged = rollout.isEnforced ? rules.flagged_categories : []
  const enforcing = plan.policies.response.filter(({ mode }) => mode === 'enforcing')
  // The digest of a text is known when it is complete.
  const inParts = enforcing.filter((policy) => textExceptionsOf(policy) === undefined)
  const partial = inParts.flatMap((policy): readonly PartialRule[] => {
    const { lookBehind } = policy.rule
    return lookBehind === 'whole' || lookBehind === 'paragraph' ? [] : [{ policy, lookBehind }]
  })
  const windowed = inParts.filter(({ rule }) => rule.lookBehind === 'paragraph')
  const terms = denied.length > 0 ? gateway.terms : undefined
  const blocking = new Set<string>([...alwaysBlockedCategories, ...requested, ...flagged])
  const policies = partial.map(({ policy }) => policy)
  const prefilter = prefilterOf(policies)
  const later = partial.filter(({ lookBehind }) => lookBehind.isAtStart !== true)
  const searched = [...(terms === undefined ? [] : [terms]), ...(policies.length === 0 ? [] : [prefilter])]
  return {
    holdsWholeBlock:
      partial.length + windowed.length < enforcing.length ||
      denied.some((term) => terms?.anchored.has(term)) ||
      (isRephrasedBy(gateway.config) && denied.length + flagged.length > 0),
    startDetector: () => joinDetectors(searched.map((one) => one.startDetector())),
    longestTerm: Math.max(terms?.longest ?? 0, ...partial.map(({ lookBehind }) => lookBehind.characters)),
    longestEncodedTerm: Math.max(terms?.longest ?? 0, ...partial.map(longestPhrase)),
    categoryBounds: perCategory((category) => Math.min(flagThreshold, prefilter.categoryBounds[category])),
    waitsForPersonalData: partial.some(({ lookBehind }) => lookBehind.personalData),
    evaluatesEveryPoint: !prefilter.isComplete,
    policies: { request: [], response: policies },
    laterPolicies: { request: [], response: later.map(({ policy }) => policy) },
    windowed: { request: [], response: windowed },
    blocking: categories.filter((category) => blocking.has(category)),
  }
}

type PartialRule = {
  readonly policy: ActivePolicy
  readonly lookBehind: Exclude<ActivePolicy['rule']['lookBehind'], 'whole' | 'paragraph'>
}

const longestPhrase = ({ policy, lookBehind }: PartialRule): number =>
  policy.rule.evaluator === 'names' ? lookBehind.characters : 0
