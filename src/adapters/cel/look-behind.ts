import type { ASTNode } from '@marcbachmann/cel-js'
import type { LookBehind } from '../../domain/policy/compiled-rule.ts'
import { textSearchOf } from './text-search.ts'
import type { RulePatterns } from './rule-patterns.ts'
import { constantChoiceOf, constantScoreOf, literalPatterns, nodesOf } from './tree.ts'

/** The variables that change while a text streams. All others are constant. */
const changing = new Set(['text', 'categories', 'pii'])

/**
 * The look-behind length of an expression on a streamed text. Any use of the text requires the whole text, with two exceptions:
 * `contains` with a literal and `matches` with a literal pattern, combined with `||`. With `&&` between two of them the first
 * match would be sent before the second arrives. A pattern that depends on the end of the text or on lines requires the whole
 * text. One that can match only at the start of the text does not, if the expression searches for nothing else. An expression
 * whose score may fall when more text arrives requires the whole text as well. A conditional between two constants, such as
 * `condition ? 1.0 : 0.0`, has the look-behind length of its condition, because its score rises with it. `isWatched`: the expression has a condition, so a stream is searched for its patterns.
 */
export function lookBehindOf(tree: ASTNode, patterns: RulePatterns, isWatched: boolean): LookBehind {
  const anchors = literalPatterns(tree).map(patterns.anchorOf)
  const isAtStart = anchors.includes('start')
  const isStreamable =
    (anchors.length === 0 || isWatched) &&
    !anchors.includes('other') &&
    (!isAtStart || matchesOnlyAtStart(tree, patterns))
  const characters = spanOf(tree)
  const isWhole = characters === undefined || !isStreamable || !rises(tree) || mayRiseTooHigh(tree)
  if (isWhole) return 'whole'
  return { characters, personalData: uses(tree, 'pii'), patterns: anchors.length > 0, ...(isAtStart && { isAtStart }) }
}

/** True if nothing but a match at the start of the text can make the expression match. */
function matchesOnlyAtStart(node: ASTNode, patterns: RulePatterns): boolean {
  if (!changes(node)) return true
  if (node.op === '||' || node.op === '&&') return node.args.every((part) => matchesOnlyAtStart(part, patterns))
  const choice = constantChoiceOf(node)
  if (choice !== undefined)
    return matchesOnlyAtStart(choice.condition, patterns) && matchesOnlyAtStart(choice.otherwise, patterns)
  const pattern = searchedPattern(node)
  return pattern !== undefined && patterns.anchorOf(pattern) === 'start'
}

/** True if the result is a count or a sum, which may exceed 1 and is then no valid score. */
const mayRiseTooHigh = (tree: ASTNode): boolean =>
  changes(tree) && (tree.op === '+' || ((tree.op === '.' || tree.op === '[]') && uses(tree, 'pii')))

/** The longest text that a match of a literal can span; undefined if it is unbounded. */
function spanOf(node: ASTNode): number | undefined {
  if (!uses(node, 'text')) return 0
  if (node.op === '||') return widest(spanOf(node.args[0]), spanOf(node.args[1]))
  if (node.op === '&&') {
    const [left, right] = node.args
    if (!changes(left)) return spanOf(right)
    return changes(right) ? undefined : spanOf(left)
  }
  const choice = constantChoiceOf(node)
  if (choice !== undefined) return widest(spanOf(choice.condition), spanOf(choice.otherwise))
  return searchedPattern(node) === undefined ? searchedWord(node)?.length : 0
}

/** True if more text, or more findings, can only raise the score. */
function rises(node: ASTNode): boolean {
  if (!changes(node)) return true
  switch (node.op) {
    case '||':
    case '&&':
    case '+':
      return node.args.every(rises)
    case '>':
    case '>=':
      return rises(node.args[0]) && !changes(node.args[1])
    case '<':
    case '<=':
      return !changes(node.args[0]) && rises(node.args[1])
    case '.':
      return isFinding(node.args[0])
    case '[]':
      return isFinding(node.args[0]) && !changes(node.args[1])
    case '?:':
      return choiceRises(node)
    default:
      return searchedPattern(node) !== undefined || searchedWord(node) !== undefined
  }
}

/** True if the score of a true condition is at least that of the second branch, so that it cannot fall when the condition becomes true. */
function choiceRises(node: ASTNode): boolean {
  const choice = constantChoiceOf(node)
  if (choice === undefined) return false
  const highest = highestScoreOf(choice.otherwise)
  return highest !== undefined && choice.score >= highest && rises(choice.condition) && rises(choice.otherwise)
}

/** The highest score of a constant, or of conditionals between constants. Undefined for any other node. */
function highestScoreOf(node: ASTNode): number | undefined {
  const choice = constantChoiceOf(node)
  if (choice === undefined) return constantScoreOf(node)
  const otherwise = highestScoreOf(choice.otherwise)
  return otherwise === undefined ? undefined : Math.max(choice.score, otherwise)
}

/** The variables with counts and scores. */
const isFinding = (node: ASTNode): boolean => node.op === 'id' && (node.args === 'categories' || node.args === 'pii')

const widest = (left: number | undefined, right: number | undefined): number | undefined =>
  left === undefined || right === undefined ? undefined : Math.max(left, right)

/** The literal of `text.contains("word")`, also in lower or upper case. */
function searchedWord(node: ASTNode): string | undefined {
  const search = textSearchOf(node)
  return search?.method === 'contains' ? search.literal : undefined
}

/** The pattern of `text.matches("pattern")`, also in lower or upper case. */
function searchedPattern(node: ASTNode): string | undefined {
  const search = textSearchOf(node)
  return search?.method === 'matches' ? search.literal : undefined
}

const uses = (node: ASTNode, name: string): boolean =>
  nodesOf(node).some((part) => part.op === 'id' && part.args === name)

const changes = (node: ASTNode): boolean => nodesOf(node).some((part) => part.op === 'id' && changing.has(part.args))
