import { perCategory, type Category, type PerCategory } from '../../scan/classify/categories.ts'
import type { PatternEngine } from '../../scan/detect/patterns.ts'
import { createScanCache } from '../../scan/scan-cache.ts'
import type { CompiledRule } from '../../policy/compiled-rule.ts'
import { thresholdOf } from '../../policy/content.ts'
import { createTriggerIndex, type TriggerIndex } from '../../policy/trigger-index.ts'
import type { ActivePolicy } from '../rulebook.ts'

/** Finds the policies of a list that may match a text, without evaluating their rules. */
export type PolicyPrefilter = TriggerIndex & {
  /** The least score of each category from which a policy may match; `Infinity` if none depends on the category. */
  readonly categoryBounds: PerCategory<number>
  /** False if a policy may match although no text, score or personal data says so. */
  readonly isComplete: boolean
}

/** The prefilter of a list of policies, created when it is first needed. */
export type PrefilterOf = (policies: readonly ActivePolicy[]) => PolicyPrefilter

/** Different lists of the same policies share one: those of several projects, and of requests that name policies. */
const maxCached = 1_000

export function createPolicyPrefilters(patterns: PatternEngine): PrefilterOf {
  const byList = new WeakMap<readonly ActivePolicy[], PolicyPrefilter>()
  const byRules = createScanCache<PolicyPrefilter>(maxCached)
  const keyOf = createRuleKeys()
  return (policies) => {
    const known = byList.get(policies)
    if (known !== undefined) return known
    const key = policies.map(keyOf).join()
    const prefilter = byRules.get(key) ?? createPrefilter(policies, patterns)
    byRules.set(key, prefilter)
    byList.set(policies, prefilter)
    return prefilter
  }
}

/** Numbers compiled rules: a rule that is compiled again is another one. The threshold decides the bounds of categories. */
function createRuleKeys(): (policy: ActivePolicy) => string {
  const numbers = new WeakMap<CompiledRule, number>()
  let last = 0
  return (policy) => {
    const number = numbers.get(policy.rule) ?? ++last
    numbers.set(policy.rule, number)
    return `${number}:${thresholdOf(policy)}`
  }
}

function createPrefilter(policies: readonly ActivePolicy[], patterns: PatternEngine): PolicyPrefilter {
  const rules = policies.map(({ rule }) => rule)
  return {
    ...createTriggerIndex(rules, patterns),
    categoryBounds: perCategory((category) => Math.min(...policies.flatMap((policy) => boundsOf(policy, category)))),
    isComplete: rules.every(({ condition }) => condition !== undefined),
  }
}

/** The scores of a category from which a policy may match. */
const boundsOf = (policy: ActivePolicy, category: Category): readonly number[] =>
  (policy.rule.condition?.anyOf ?? []).flatMap((trigger) => {
    if (trigger.kind === 'category' && trigger.name === category) return trigger.atLeast
    // A share of 0.49995 is rounded to 5,000 basis points.
    const isScore = trigger.kind === 'category_score' && trigger.name === category
    return isScore ? (thresholdOf(policy) - 0.5) / 10_000 : []
  })
