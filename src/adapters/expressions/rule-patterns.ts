import { createScanCache } from '../../domain/moderation/scan-cache.ts'
import { compileSized, type SizedPattern } from '../patterns/re2.ts'
import { compileUnits, type CostBudget } from './cost-budget.ts'
import { ExpressionError } from './values.ts'

/** The patterns of rules, each compiled once. */
export type RulePatterns = {
  /** A pattern that is not known yet is compiled at the expense of whoever asks. */
  find(source: string, purse: CostBudget): SizedPattern
}

/** Those written in the rule are always at hand; of those put together while it runs, the last ones used. */
export function createRulePatterns(literals: readonly string[], mostRemembered = 64): RulePatterns {
  const kept = new Map(literals.map((source) => [source, compileSized(source)]))
  const recent = createScanCache<SizedPattern>(mostRemembered)
  return {
    find(source, purse) {
      const known = kept.get(source) ?? recent.get(source)
      if (known) return known
      const pattern = compiled(source)
      recent.set(source, pattern)
      purse.spend(compileUnits(pattern.size))
      return pattern
    },
  }
}

function compiled(source: string): SizedPattern {
  try {
    return compileSized(source)
  } catch (cause) {
    throw new ExpressionError(`not a valid pattern: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}
