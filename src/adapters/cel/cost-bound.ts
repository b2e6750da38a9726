import type { ASTNode } from '@marcbachmann/cel-js'
import {
  copyUnits,
  errorCost,
  instructionUnits,
  itemUnits,
  maxNewStates,
  newStateUnits,
  searchUnits,
  stepUnits,
} from './cost-budget.ts'
import { textSearchOf, type TextSearch } from './text-search.ts'
import { nodesOf } from './tree.ts'

/** An upper bound of the cost of an evaluation, which grows with the text. */
export type CostBound = { readonly fixed: number; readonly perCharacter: number }

/** The number of instructions of a pattern. */
type SizeOfPattern = (source: string) => number

/** Upper or lower case of a character has at most three characters. */
const longestCase = 3

/** Undefined if the cost depends on anything but the text, such as the length of a list in the metadata. */
export function costBoundOf(node: ASTNode, sizeOf: SizeOfPattern): CostBound | undefined {
  const search = textSearchOf(node)
  if (search !== undefined) return searchCost(search, sizeOf)
  switch (node.op) {
    case 'value':
    case 'id':
      return step(0)
    case '.':
      return sum(step(0), costBoundOf(node.args[0], sizeOf))
    case '!_':
      return sum(step(0), costBoundOf(node.args, sizeOf))
    case '?:':
      return sum(step(0), ...node.args.map((part) => costBoundOf(part, sizeOf)))
    case '+':
      return isNumeric(node) ? sum(step(0), ...node.args.map((part) => costBoundOf(part, sizeOf))) : undefined
    case '||':
    case '&&':
      return sum(step(errorCost), ...node.args.map((part) => costBoundOf(part, sizeOf)))
    case '[]':
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return sum(comparisonCost(node.args), ...node.args.map((part) => costBoundOf(part, sizeOf)))
    default:
      return undefined
  }
}

/** True if the node reads scores and counts only. */
const isNumeric = (node: ASTNode): boolean => nodesOf(node).every((part) => part.op !== 'id' || numeric.has(part.args))

const numeric = new Set(['categories', 'pii', 'prompt_injection'])

const step = (units: number): CostBound => ({ fixed: stepUnits + units, perCharacter: 0 })

/** A comparison with a constant reads at most as much as the constant has. */
function comparisonCost(sides: readonly ASTNode[]): CostBound | undefined {
  const constant = sides.find(({ op }) => op === 'value')
  return constant && step(itemUnits + String(constant.args).length)
}

/** The steps are those of the method, the receiver, the text and the argument. */
function searchCost({ method, literal, letterCase }: TextSearch, sizeOf: SizeOfPattern): CostBound | undefined {
  const isCopied = letterCase !== undefined
  const characters = isCopied ? longestCase : 1
  const bound = (fixed: number, perCharacter: number): CostBound => ({
    fixed: stepUnits * 4 + fixed,
    perCharacter: perCharacter * characters + (isCopied ? copyUnits : 0),
  })
  if (method === 'startsWith' || method === 'endsWith') return bound(0, 0)
  if (method === 'contains') return bound(0, searchUnits('x', literal))
  if (method !== 'matches') return undefined
  return bound(maxNewStates * newStateUnits, sizeOf(literal) * instructionUnits)
}

function sum(...parts: readonly (CostBound | undefined)[]): CostBound | undefined {
  let [fixed, perCharacter] = [0, 0]
  for (const part of parts) {
    if (part === undefined) return undefined
    fixed += part.fixed
    perCharacter += part.perCharacter
  }
  return { fixed, perCharacter }
}
