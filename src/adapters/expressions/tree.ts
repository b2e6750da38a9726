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

/** The literal patterns of an expression. */
export const literalPatterns = (tree: ASTNode): readonly string[] =>
  [...nodesOf(tree)].flatMap((node) =>
    node.op === 'rcall' && node.args[0] === 'matches' ? (literalOf(node.args[2][0]) ?? []) : [],
  )
