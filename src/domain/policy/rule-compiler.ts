import { andThen } from '../../base/maybe-promise.ts'
import type { PatternEngine } from '../moderation/patterns.ts'
import type { CompiledRule, CompileRule, RuleScore } from './compiled-rule.ts'
import type { CompiledExpression, CompileExpression, ExpressionResult } from './expression.ts'
import type { Judge } from './judge.ts'
import { ruleEntities } from './rule-entities.ts'
import { compilePhrases, createNormalisedTextCache, type NormalisedTextCache } from './phrases.ts'
import { expressionOf, type RuleFacts } from './rule.ts'

export type RuleCompilerParts = {
  readonly compileExpression: CompileExpression
  readonly patterns: PatternEngine
  /** Where there is none, a rule in plain language is held to what it names. */
  readonly judge: Judge | undefined
}

/** A rule is an expression, or plain language for a judge, or plain language of which only what it names is understood. */
export function createRuleCompiler({ compileExpression, patterns, judge }: RuleCompilerParts): CompileRule {
  const read = createNormalisedTextCache()
  return ({ rule, versionId, organizationId }) => {
    const expression = expressionOf(rule)
    if (expression !== undefined) return expressionRule(() => compileExpression(expression, organizationId))
    if (judge !== undefined) return judgedRule(judge, rule, versionId)
    return namingRule(rule, { patterns, read })
  }
}

/** A version may be older than what rules are offered today: one that no longer compiles fails, and is not forgotten. */
function expressionRule(compile: () => CompiledExpression): CompiledRule {
  try {
    const { lookBehind, evaluate } = compile()
    return { lookBehind, score: (facts) => andThen(evaluate(facts), scoreOf) }
  } catch {
    return { lookBehind: 'whole', score: () => failed('rule_invalid') }
  }
}

/** A boolean is all or nothing, a number from 0 to 1 so many basis points; anything else is no verdict. */
function scoreOf(result: ExpressionResult): RuleScore {
  if ('failed' in result) return failed(result.failed)
  const { value } = result
  if (typeof value === 'boolean') return { basisPoints: value ? 10_000 : 0 }
  const share = typeof value === 'bigint' || typeof value === 'number' ? Number(value) : Number.NaN
  return share >= 0 && share <= 1 ? { basisPoints: Math.round(share * 10_000) } : failed('expression_result')
}

const failed = (why: string): RuleScore => ({ notEvaluated: why, isFailure: true })

/** What a judge reads it must read as a whole: the end of a sentence can turn its meaning. */
const judgedRule = (judge: Judge, rule: string, versionId: string): CompiledRule => ({
  lookBehind: 'whole',
  score: ({ text, direction }) =>
    text.trim() === '' ? { basisPoints: 0 } : judge({ rule, versionId, text, direction }),
})

type NamingParts = { readonly patterns: PatternEngine; readonly read: NormalisedTextCache }

/** The highest of what it names. It cannot tell "never" from "always": whatever is named is what is looked for. */
function namingRule(rule: string, { patterns, read }: NamingParts): CompiledRule {
  const { phrases: named, categories, personalData } = ruleEntities(rule)
  if (named.length + categories.length + personalData.length === 0) return unjudgeable
  const phrases = compilePhrases(named, patterns)
  const isFound = ({ text, pii }: RuleFacts): boolean =>
    personalData.some((kind) => (pii[kind] ?? 0) > 0) || (named.length > 0 && phrases.isIn(read(text)))
  return {
    lookBehind: { characters: phrases.longest, personalData: personalData.length > 0 },
    score: (facts) => {
      const shares = categories.map((category) => facts.categories[category] ?? 0)
      return { basisPoints: isFound(facts) ? 10_000 : Math.round(Math.max(0, ...shares) * 10_000) }
    },
  }
}

const unjudgeable: CompiledRule = {
  lookBehind: { characters: 0, personalData: false },
  score: () => ({ notEvaluated: 'rule_not_evaluable', isFailure: false }),
}
