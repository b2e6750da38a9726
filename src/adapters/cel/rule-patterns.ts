import { createScanCache } from '../../domain/scan/scan-cache.ts'
import type { PatternAnchor } from '../patterns/pattern-program.ts'
import { compileSized, type SizedPattern } from '../patterns/re2.ts'
import { compileUnits, type CostBudget } from './cost-budget.ts'
import { ExpressionError } from './values.ts'

/** The compiled patterns of a rule. */
export type RulePatterns = {
  /** Compiles an unknown pattern and charges the budget for it. */
  find(source: string, budget: CostBudget): SizedPattern
  /** For a literal pattern of the rule. */
  sizeOf(source: string): number
  anchorOf(source: string): PatternAnchor
  requiredLiteral(source: string): string | undefined
}

/** Literal patterns of the rule are compiled ahead; patterns built at evaluation are cached. */
export function createRulePatterns(literals: readonly string[], maxCached = 64): RulePatterns {
  const ofLiterals = new Map(literals.map((source) => [source, compileSized(source)]))
  const recent = createScanCache<SizedPattern>(maxCached)
  return {
    find(source, budget) {
      const known = ofLiterals.get(source) ?? recent.get(source)
      if (known) return known
      const pattern = compiled(source)
      recent.set(source, pattern)
      budget.spend(compileUnits(pattern.size))
      return pattern
    },
    sizeOf: (source) => ofLiterals.get(source)?.size ?? Infinity,
    anchorOf: (source) => ofLiterals.get(source)?.anchor ?? 'other',
    requiredLiteral: (source) => ofLiterals.get(source)?.literal,
  }
}

function compiled(source: string): SizedPattern {
  try {
    return compileSized(source)
  } catch (cause) {
    throw new ExpressionError(`not a valid pattern: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}
