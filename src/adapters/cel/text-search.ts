import type { ASTNode } from '@marcbachmann/cel-js'
import type { LetterCase } from '../../domain/scan/detect/letter-case.ts'
import { literalOf } from './tree.ts'

/** A call of a method on the text with a literal, such as `text.contains("word")`. */
export type TextSearch = {
  readonly method: string
  readonly literal: string
  /** The case of the text on which the method is called. The literal is ASCII then. */
  readonly letterCase: LetterCase | undefined
}

/** Undefined for any other node. */
export function textSearchOf(node: ASTNode): TextSearch | undefined {
  if (node.op !== 'rcall') return undefined
  const [method, receiver, [argument]] = node.args
  const literal = literalOf(argument)
  if (literal === undefined) return undefined
  if (isText(receiver)) return { method, literal, letterCase: undefined }
  const letterCase = receiver.op === 'rcall' && isText(receiver.args[1]) ? letterCases.get(receiver.args[0]) : undefined
  return letterCase !== undefined && /^[\x20-\x7e]*$/.test(literal) ? { method, literal, letterCase } : undefined
}

const letterCases: ReadonlyMap<string, LetterCase> = new Map([
  ['lowerAscii', 'lower'],
  ['upperAscii', 'upper'],
])

const isText = (node: ASTNode): boolean => node.op === 'id' && node.args === 'text'
