import type { ASTNode } from '@marcbachmann/cel-js'
import type { LookBehind } from '../../domain/policy/compiled-rule.ts'
import { literalOf, nodesOf } from './tree.ts'

/** These change while a text grows; everything else that a rule can see stands from the start. */
const growing = new Set(['text', 'categories', 'pii'])

/**
 * How much of a growing text an expression must see. Anything it does with the text makes that all of it, with one
 * exception: words looked for side by side. Where two must be found together, the first has long left when the second
 * comes, so `&&` between them is no exception. What could turn back when more comes must see all of it too.
 */
export function lookBehindOf(tree: ASTNode): LookBehind {
  const characters = spanOf(tree)
  const isWhole = characters === undefined || !rises(tree) || mayRiseTooHigh(tree)
  return isWhole ? 'whole' : { characters, personalData: uses(tree, 'pii') }
}

/** A count or a sum that is the result itself: above 1 it is no verdict any more. */
const mayRiseTooHigh = (tree: ASTNode): boolean =>
  grows(tree) && (tree.op === '+' || ((tree.op === '.' || tree.op === '[]') && uses(tree, 'pii')))

/** The longest stretch of text that can make the expression true; undefined where none is long enough. */
function spanOf(node: ASTNode): number | undefined {
  if (!uses(node, 'text')) return 0
  if (node.op === '||') return widest(spanOf(node.args[0]), spanOf(node.args[1]))
  if (node.op === '&&') {
    const [left, right] = node.args
    if (!grows(left)) return spanOf(right)
    return grows(right) ? undefined : spanOf(left)
  }
  return searchedWord(node)?.length
}

/** Whether more of a text, or more found in it, can only bring the expression closer to a match. */
function rises(node: ASTNode): boolean {
  if (!grows(node)) return true
  switch (node.op) {
    case '||':
    case '&&':
    case '+':
      return node.args.every(rises)
    case '>':
    case '>=':
      return rises(node.args[0]) && !grows(node.args[1])
    case '<':
    case '<=':
      return !grows(node.args[0]) && rises(node.args[1])
    case '.':
      return isFound(node.args[0])
    case '[]':
      return isFound(node.args[0]) && !grows(node.args[1])
    default:
      return searchedWord(node) !== undefined
  }
}

/** What is counted or scored in a text. */
const isFound = (node: ASTNode): boolean => node.op === 'id' && (node.args === 'categories' || node.args === 'pii')

const widest = (left: number | undefined, right: number | undefined): number | undefined =>
  left === undefined || right === undefined ? undefined : Math.max(left, right)

/** The word of `text.contains("word")`, also in capitals or small letters where that cannot depend on what follows. */
function searchedWord(node: ASTNode): string | undefined {
  if (node.op !== 'rcall' || node.args[0] !== 'contains') return undefined
  const [, receiver, [argument]] = node.args
  const word = literalOf(argument)
  if (isText(receiver)) return word
  const isFolded =
    receiver.op === 'rcall' && ['lowerAscii', 'upperAscii'].includes(receiver.args[0]) && isText(receiver.args[1])
  return isFolded && word !== undefined && /^[\x20-\x7e]*$/.test(word) ? word : undefined
}

const isText = (node: ASTNode): boolean => node.op === 'id' && node.args === 'text'

const uses = (node: ASTNode, name: string): boolean =>
  nodesOf(node).some((part) => part.op === 'id' && part.args === name)

const grows = (node: ASTNode): boolean => nodesOf(node).some((part) => part.op === 'id' && growing.has(part.args))
