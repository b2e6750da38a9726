import type { ASTNode } from '@marcbachmann/cel-js'
import { isCategory } from '../../domain/scan/classify/categories.ts'
import { isPersonalDataKind } from '../../domain/scan/detect/personal-data/kinds.ts'
import { injectionPlaces, type InjectionPlace } from '../../domain/scan/injection/places.ts'
import { leastScore } from '../../domain/policy/trigger-index.ts'
import type { RuleCondition, RuleTrigger } from '../../domain/policy/compiled-rule.ts'
import { evaluationUnits } from './cost-budget.ts'
import { costBoundOf } from './cost-bound.ts'
import type { RulePatterns } from './rule-patterns.ts'
import { textSearchOf } from './text-search.ts'
import { constantChoiceOf, constantScoreOf, literalOf } from './tree.ts'

/**
 * Derives what must hold so that an expression may match or fail. A text that is so long that the expression may exceed its cost
 * budget is excluded.
 */
export function conditionOf(tree: ASTNode, patterns: RulePatterns): RuleCondition | undefined {
  const anyOf = scoreTriggers(tree) ?? triggersOf(tree)?.map((trigger) => withLiteral(trigger, patterns))
  const cost = costBoundOf(tree, patterns.sizeOf)
  if (anyOf === undefined || cost === undefined) return undefined
  return { anyOf, maxCharacters: (evaluationUnits - cost.fixed) / cost.perCharacter }
}

const withLiteral = (trigger: RuleTrigger, patterns: RulePatterns): RuleTrigger =>
  trigger.kind === 'pattern' ? { ...trigger, literal: patterns.requiredLiteral(trigger.source) } : trigger

/** An expression whose result is the score of a category or of a prompt injection. */
function scoreTriggers(node: ASTNode): readonly RuleTrigger[] | undefined {
  const name = keyOf(node, 'categories')
  if (name !== undefined && isCategory(name)) return [{ kind: 'category_score', name }]
  const place = placeOf(keyOf(node, 'prompt_injection'))
  return place && [{ kind: 'prompt_injection', name: place, atLeast: leastScore }]
}

/** Unless one of the triggers holds, the node is false or 0 and does not fail. Undefined if that cannot be derived. */
function triggersOf(node: ASTNode): readonly RuleTrigger[] | undefined {
  switch (node.op) {
    case 'value':
      return constantScoreOf(node) === 0 ? [] : undefined
    case '?:':
      return choiceTriggers(node)
    case '||': {
      const [left, right] = node.args.map(triggersOf)
      return left && right && [...left, ...right]
    }
    // One false side decides, even if the other fails.
    case '&&': {
      const [left, right] = node.args.map(triggersOf)
      return left === undefined || (right !== undefined && right.length < left.length) ? right : left
    }
    case '>':
    case '>=':
      return comparisonTriggers(node.args[0], node.args[1], node.op === '>')
    case '<':
    case '<=':
      return comparisonTriggers(node.args[1], node.args[0], node.op === '<')
    default:
      return searchTriggers(node)
  }
}

/** A conditional is its second branch unless its condition is true, or fails. */
function choiceTriggers(node: ASTNode): readonly RuleTrigger[] | undefined {
  const choice = constantChoiceOf(node)
  if (choice === undefined) return undefined
  const [condition, otherwise] = [triggersOf(choice.condition), triggersOf(choice.otherwise)]
  return condition && otherwise && [...condition, ...otherwise]
}

function searchTriggers(node: ASTNode): readonly RuleTrigger[] | undefined {
  const search = textSearchOf(node)
  if (search === undefined || search.literal === '') return undefined
  const { method, literal, letterCase } = search
  if (method === 'matches') return [{ kind: 'pattern', source: literal, literal: undefined, letterCase }]
  const isSearch = method === 'contains' || method === 'startsWith' || method === 'endsWith'
  return isSearch ? [{ kind: 'literal', text: literal }] : undefined
}

/** A comparison of a score or a count, or of a sum of them, with a constant. */
function comparisonTriggers(high: ASTNode, low: ASTNode, isStrict: boolean): readonly RuleTrigger[] | undefined {
  const bound = low.op === 'value' && ['number', 'bigint'].includes(typeof low.args) ? Number(low.args) : undefined
  if (bound === undefined) return undefined
  const names = summands(high, 'categories')
  // At least one of the summands has its share of the sum.
  if (names?.every(isCategory)) return names.map((name) => ({ kind: 'category', name, atLeast: bound / names.length }))
  const places = summands(high, 'prompt_injection')?.map(placeOf)
  if (places?.every((place) => place !== undefined))
    return places.map((name) => ({ kind: 'prompt_injection', name, atLeast: bound / places.length }))
  const kinds = summands(high, 'pii')
  const least = isStrict ? Math.floor(bound) + 1 : Math.ceil(bound)
  if (!kinds?.every(isPersonalDataKind) || least < 1) return undefined
  return kinds.map((name) => ({ kind: 'personal_data', name, atLeast: Math.ceil(least / kinds.length) }))
}

const placeOf = (name: string | undefined): InjectionPlace | undefined =>
  injectionPlaces.find((place) => place === name)

/** The keys under which a sum reads this variable; undefined if it reads anything else. */
function summands(node: ASTNode, variable: string): readonly string[] | undefined {
  if (node.op === '+') {
    const [left, right] = node.args.map((part) => summands(part, variable))
    return left && right && [...left, ...right]
  }
  const key = keyOf(node, variable)
  return key === undefined ? undefined : [key]
}

/** The literal key under which a node reads this variable. */
function keyOf(node: ASTNode, variable: string): string | undefined {
  if (node.op !== '.' && node.op !== '[]') return undefined
  const [object, key] = node.args
  if (object.op !== 'id' || object.args !== variable) return undefined
  return typeof key === 'string' ? key : literalOf(key)
}
