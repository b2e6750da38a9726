/** Rejects CEL features that rules do not support when a draft is saved, so that no rule fails at its first request. */
import type { ASTNode } from '@marcbachmann/cel-js'
import { categories } from '../../domain/scan/classify/categories.ts'
import { personalDataKinds } from '../../domain/scan/detect/personal-data/kinds.ts'
import { injectionPlaces } from '../../domain/scan/injection/places.ts'
import { compileSized } from '../patterns/re2.ts'
import { functions, stringMethods } from './functions.ts'
import { isMacro } from './macros.ts'
import { isString, literalOf, nodesOf } from './tree.ts'

export type UnsupportedNode = { readonly node: ASTNode; readonly message: string }

/** Maps with a fixed set of keys. */
const knownKeys: Readonly<Record<string, readonly string[]>> = {
  categories,
  pii: personalDataKinds,
  prompt_injection: injectionPlaces,
}

/** The first unsupported node of an expression. */
export function findUnsupported(tree: ASTNode): UnsupportedNode | undefined {
  for (const node of nodesOf(tree)) {
    const message = problemIn(node)
    if (message !== undefined) return { node, message }
  }
  return undefined
}

function problemIn(node: ASTNode): string | undefined {
  switch (node.op) {
    case 'value':
      return isPlain(node.args) ? undefined : 'Bytes and unsigned numbers are not supported in rules.'
    case 'call':
      return isMacro(node) || Object.hasOwn(functions, node.args[0]) ? undefined : notSupported(node.args[0])
    case 'rcall':
      return methodProblem(node)
    case '.':
      return keyProblem(node.args[0], node.args[1])
    case '[]':
      return keyProblem(node.args[0], literalOf(node.args[1]))
    default:
      return undefined
  }
}

const isPlain = (value: unknown): boolean =>
  value === null || isString(value) || ['number', 'bigint', 'boolean'].includes(typeof value)

const notSupported = (name: string): string => `${name}() is not supported in rules.`

function methodProblem(node: Extract<ASTNode, { op: 'rcall' }>): string | undefined {
  const [name, , args] = node.args
  if (!isMacro(node) && name !== 'size' && !Object.hasOwn(stringMethods, name)) return notSupported(name)
  const pattern = name === 'matches' ? literalOf(args[0]) : undefined
  return pattern === undefined ? undefined : patternProblem(pattern)
}

function patternProblem(source: string): string | undefined {
  try {
    compileSized(source)
    return undefined
  } catch (error) {
    return `The pattern cannot be used: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** An unknown key would make the rule fail on every request. */
function keyProblem(object: ASTNode, key: string | undefined): string | undefined {
  const keys = object.op === 'id' ? knownKeys[object.args] : undefined
  if (keys === undefined || key === undefined || keys.includes(key)) return undefined
  return `There is no key ${key}; the keys are ${keys.join(', ')}.`
}
