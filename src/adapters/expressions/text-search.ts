import type { ASTNode } from '@marcbachmann/cel-js'
import { literalOf } from './tree.ts'

/** A call of a method on the text with a literal, such as `text.contains("word")`. */
export type TextSearch = {
  readonly method: string
  readonly literal: string
  /** True if the method is called on the text in lower or upper case. The literal is ASCII then. */
  readonly isFolded: boolean
}

/** Undefined for any other node. */
export function textSearchOf(node: ASTNode): TextSearch | undefined {
  if (node.op !== 'rcall') return undefined
  const [method, receiver, [argument]] = node.args
  const literal = literalOf(argument)
  if (literal === undefined) return undefined
  if (isText(receiver)) return { method, literal, isFolded: false }
  const isFolded =
    receiver.op === 'rcall' && ['lowerAscii', 'upperAscii'].includes(receiver.args[0]) && isText(receiver.args[1])
  return isFolded && /^[\x20-\x7e]*$/.test(literal) ? { method, literal, isFolded } : undefined
}

const isText = (node: ASTNode): boolean => node.op === 'id' && node.args === 'text'
