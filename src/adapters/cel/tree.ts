import type { ASTNode } from '@marcbachmann/cel-js'

/** The children of a node, in source order. */
function childrenOf(node: ASTNode): readonly ASTNode[] {
  switch (node.op) {
    case 'value':
    case 'id':
      return []
    case '.':
    case '.?':
      return [node.args[0]]
    case 'call':
      return node.args[1]
    case 'rcall':
      return [node.args[1], ...node.args[2]]
    case 'map':
      return node.args.flat()
    case '!_':
    case '-_':
      return [node.args]
    default:
      return node.args
  }
}

/** The node and all its descendants. */
export function* nodesOf(node: ASTNode): Generator<ASTNode> {
  const open = [node]
  for (let next = open.pop(); next; next = open.pop()) {
    yield next
    open.push(...childrenOf(next).toReversed())
  }
}

export const isString = (value: unknown): value is string => typeof value === 'string'

/** The value of a string literal; undefined for other nodes. */
export const literalOf = (node: ASTNode | undefined): string | undefined =>
  node?.op === 'value' && isString(node.args) ? node.args : undefined

/** A conditional whose first branch is a constant score. */
type ConstantChoice = {
  readonly condition: ASTNode
  /** The score if the condition is true. */
  readonly score: number
  readonly otherwise: ASTNode
}

/** Undefined for any other node, and for a constant that is no valid score. */
export function constantChoiceOf(node: ASTNode): ConstantChoice | undefined {
  if (node.op !== '?:') return undefined
  const [condition, first, otherwise] = node.args
  const score = constantScoreOf(first)
  return score === undefined ? undefined : { condition, score, otherwise }
}

/** The score of a constant: a boolean or a number from 0 to 1. Undefined for any other node. */
export function constantScoreOf(node: ASTNode): number | undefined {
  if (node.op !== 'value' || !['boolean', 'number', 'bigint'].includes(typeof node.args)) return undefined
  const score = Number(node.args)
  return score >= 0 && score <= 1 ? score : undefined
}

/** The literal patterns of an expression. */
export const literalPatterns = (tree: ASTNode): readonly string[] =>
  [...nodesOf(tree)].flatMap((node) =>
    node.op === 'rcall' && node.args[0] === 'matches' ? (literalOf(node.args[2][0]) ?? []) : [],
  )
