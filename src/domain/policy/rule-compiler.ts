import { all, andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import type {
  CompiledRule,
  CompileRule,
  RuleCaller,
  RuleCondition,
  RuleName,
  RuleSource,
  RuleTrigger,
} from './compiled-rule.ts'
import type { RuleScore } from './rule-score.ts'
import type { CompiledExpression, CompileExpression, ExpressionResult } from './expression.ts'
import type { RuleJudge } from './judge.ts'
import { judgeWindowsOf } from './judge-windows.ts'
import { ruleEntities, type RuleEntities } from './rule-entities.ts'
import { expressionOf, type RuleFacts } from './rule.ts'
import { leastScore } from './trigger-index.ts'
import { encodedTexts } from '../scan/normalise/encoded-text.ts'
import { normalise } from '../scan/normalise/normalise.ts'
import { slicesOf } from '../scan/normalise/slices.ts'
import { compilePlainTerms } from '../scan/detect/terms.ts'

export type RuleCompilerParts = {
  readonly compileExpression: CompileExpression
  /** The judge of rules whose source has none. Without any, a rule in plain language is evaluated by the entities it names. */
  readonly judge: RuleJudge | undefined
}

/** Compiles a rule: an expression, or plain language for the judge, or plain language reduced to the entities it names. */
export function createRuleCompiler({ compileExpression, ...parts }: RuleCompilerParts): CompileRule {
  const normalisedTexts = createNormalisedTextCache()
  return (source) => {
    const { rule, organizationId } = source
    const expression = expressionOf(rule)
    if (expression !== undefined) return expressionRule(() => compileExpression(expression, organizationId))
    const judge = source.judge ?? parts.judge
    if (judge !== undefined) return guardedRule(judgedRule(judge, source), judge, { source, compileExpression })
    return entityRule(rule, normalisedTexts)
  }
}

/** A stored version may use functions that are no longer supported. Its rule then fails on every evaluation instead of being skipped. */
function expressionRule(compile: () => CompiledExpression): CompiledRule {
  try {
    const { evaluate, ...rest } = compile()
    return { ...rest, evaluator: 'expression', score: (facts) => andThen(evaluate(facts), scoreOf) }
  } catch {
    return {
      lookBehind: 'whole',
      evaluator: 'expression',
      names: [],
      categories: [],
      injectionPlaces: [],
      condition: undefined,
      score: () => failed('rule_invalid'),
    }
  }
}

/** True scores 10,000 and false 0; a number from 0 to 1 is scaled to basis points. Any other result is a failure. */
function scoreOf(result: ExpressionResult): RuleScore {
  if ('failed' in result) return failed(result.failed)
  const { value } = result
  if (typeof value === 'boolean') return { basisPoints: value ? 10_000 : 0 }
  const share = typeof value === 'bigint' || typeof value === 'number' ? Number(value) : Number.NaN
  return share >= 0 && share <= 1 ? { basisPoints: Math.round(share * 10_000) } : failed('expression_result')
}

const failed = (reason: string): RuleScore => ({ notEvaluated: reason, isFailure: true })

/**
 * A judge needs the whole text because the end of a sentence can reverse its meaning. By paragraph, the score of a text is the
 * highest of its windows, and a window has the same score alone as in its text.
 */
function judgedRule(judge: RuleJudge, source: RuleSource): CompiledRule {
  const { rule, versionId, judgeWindow, organizationId, policyId = '', threshold = 5_000 } = source
  const isByParagraph = judgeWindow === 'paragraph'
  const scorePart = (text: string, direction: string, caller: RuleCaller = {}): MaybePromise<RuleScore> => {
    if (text.trim() === '') return { basisPoints: 0 }
    const { requestId, onModelCall } = caller
    const asked = { rule, versionId, text, direction, organizationId, policyId, threshold }
    return judge.ask({ ...asked, ...(requestId !== undefined && { requestId }), ...(onModelCall && { onModelCall }) })
  }
  return {
    lookBehind: isByParagraph ? 'paragraph' : 'whole',
    evaluator: 'judge',
    judgeVersion: judge.version,
    failsOpen: judge.failsOpen,
    names: namesOf(ruleEntities(rule)),
    categories: [], // the judge reads the text
    injectionPlaces: [],
    condition: undefined,
    score: ({ text, direction }, caller) =>
      isByParagraph
        ? andThen(all(judgeWindowsOf(text).map((window) => scorePart(window, direction, caller))), highestScore)
        : scorePart(text, direction, caller),
  }
}

type Guarding = Pick<RuleCompilerParts, 'compileExpression'> & { readonly source: RuleSource }

/**
 * A judge that is asked only about texts for which the guard of the policy is true. If the guard fails, the judge is asked: a guard
 * saves calls and is no rule. A guard reads the whole text, so the rule does not work by paragraph.
 */
function guardedRule(judged: CompiledRule, judge: RuleJudge, { source, compileExpression }: Guarding): CompiledRule {
  const { judgeWhen = '', organizationId, policyId = '' } = source
  const guard = judgeWhen === '' ? undefined : compiledGuard(() => compileExpression(judgeWhen, organizationId))
  if (guard === undefined) return judged
  const skip = (): RuleScore => {
    judge.onSkipped?.({ organizationId, policyId })
    return { basisPoints: 0, isSkipped: true }
  }
  return {
    ...judged,
    lookBehind: 'whole',
    names: [...judged.names, ...guard.names],
    categories: guard.categories,
    injectionPlaces: guard.injectionPlaces,
    score: (facts, caller) =>
      andThen(guard.evaluate(facts), (result) => (isFalse(result) ? skip() : judged.score(facts, caller))),
  }
}

/** A stored guard may use functions that are no longer supported. */
function compiledGuard(compile: () => CompiledExpression): CompiledExpression | undefined {
  try {
    return compile()
  } catch {
    return undefined
  }
}

function isFalse(result: ExpressionResult): boolean {
  const score = scoreOf(result)
  return 'basisPoints' in score && score.basisPoints === 0
}

/** The score of a text of several parts. One failure is enough: a text that was not evaluated as a whole has no score. */
function highestScore(scores: readonly RuleScore[]): RuleScore {
  const highest = Math.max(0, ...scores.map((score) => ('basisPoints' in score ? score.basisPoints : 0)))
  const failure = scores.find((score) => 'notEvaluated' in score)
  return failure === undefined ? { basisPoints: highest } : { ...failure, partBasisPoints: highest }
}

/** Scores the highest match of the named entities. It ignores negation: "never" and "always" have the same result. */
function entityRule(rule: string, normalisedTexts: NormalisedTextCache): CompiledRule {
  const entities = ruleEntities(rule)
  const { phrases: named, categories, personalData, injections } = entities
  if (named.length + categories.length + personalData.length + injections.length === 0) return notEvaluable
  const phrases = compilePhrases(named)
  const isMatch = ({ text, pii }: RuleFacts): boolean =>
    personalData.some((kind) => (pii[kind] ?? 0) > 0) || (named.length > 0 && phrases.isIn(normalisedTexts(text)))
  return {
    lookBehind: { characters: phrases.longest, personalData: personalData.length > 0, patterns: false },
    evaluator: 'names',
    names: namesOf(entities),
    categories,
    injectionPlaces: injections,
    condition: conditionOf(entities),
    score: (facts) => {
      if (isMatch(facts)) return { basisPoints: 10_000 }
      let highest = 0
      for (const category of categories) highest = Math.max(highest, facts.categories[category] ?? 0)
      for (const place of injections) highest = Math.max(highest, facts.prompt_injection?.[place] ?? 0)
      return { basisPoints: Math.round(highest * 10_000) }
    },
  }
}

const namesOf = ({ phrases, categories, personalData, injections }: RuleEntities): readonly RuleName[] => [
  ...phrases.map((name): RuleName => ({ kind: 'phrase', name })),
  ...categories.map((name): RuleName => ({ kind: 'category', name })),
  ...personalData.map((name): RuleName => ({ kind: 'personal_data', name })),
  ...injections.map((name): RuleName => ({ kind: 'prompt_injection', name })),
]

const conditionOf = ({ phrases, categories, personalData, injections }: RuleEntities): RuleCondition => ({
  anyOf: [
    ...phrases.map((text): RuleTrigger => ({ kind: 'phrase', text })),
    ...categories.map((name): RuleTrigger => ({ kind: 'category_score', name })),
    ...personalData.map((name): RuleTrigger => ({ kind: 'personal_data', name, atLeast: 1 })),
    ...injections.map((name): RuleTrigger => ({ kind: 'prompt_injection', name, atLeast: leastScore })),
  ],
  maxCharacters: Infinity,
})

const notEvaluable: CompiledRule = {
  lookBehind: { characters: 0, personalData: false, patterns: false },
  evaluator: undefined,
  names: [],
  categories: [],
  injectionPlaces: [],
  condition: undefined,
  score: () => ({ notEvaluated: 'rule_not_evaluable', isFailure: false }),
}

/** Returns the text and every text encoded in it, each in its normal form. */
type NormalisedTextCache = (text: string) => readonly NormalisedText[]

type NormalisedText = { readonly text: string; readonly folded: string }

/** Caches the last text only, because all rules of an organization are evaluated on one text in a row. */
function createNormalisedTextCache(): NormalisedTextCache {
  let lastText = ''
  let texts: readonly NormalisedText[] = []
  return (text) => {
    if (text === lastText) return texts
    lastText = text
    texts = [text, ...slicesOf(text).flatMap((slice) => encodedTexts(slice.text).map((encoded) => encoded.text))].map(
      (part) => ({ text: part, folded: normalise(part) }),
    )
    return texts
  }
}

type Phrases = {
  /** Length of the longest phrase, in characters of the normal form. */
  readonly longest: number
  isIn(texts: readonly NormalisedText[]): boolean
}

/** Phrases match as the terms of a deny list do: in any case, with homoglyphs, on word boundaries, also inside base64. */
function compilePhrases(phrases: readonly string[]): Phrases {
  const terms = compilePlainTerms(phrases)
  const words = phrases.map(longestWord)
  return {
    longest: Math.max(0, ...phrases.map((phrase) => normalise(phrase).length)),
    isIn: (texts) =>
      texts.some(({ text, folded }) => words.some((word) => folded.includes(word)) && terms.find(text).length > 0),
  }
}

/**
 * The longest word of the phrase. A native search for it rules out most texts before the terms are matched. Empty for a
 * phrase with characters outside ASCII, because such a phrase also matches in its Latin transcription.
 */
function longestWord(phrase: string): string {
  const folded = normalise(phrase)
  if (/[^\x20-\x7e]/.test(folded)) return ''
  return folded.split(' ').reduce((longest, word) => (word.length > longest.length ? word : longest))
}
