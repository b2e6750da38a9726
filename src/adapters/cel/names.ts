import type { ASTNode } from '@marcbachmann/cel-js'
import { categories, type Category } from '../../domain/scan/classify/categories.ts'
import { injectionPlaces, type InjectionPlace } from '../../domain/scan/injection/places.ts'
import type { RuleName } from '../../domain/policy/compiled-rule.ts'
import type { RuleFacts } from '../../domain/policy/rule.ts'
import { literalOf, nodesOf } from './tree.ts'

/** What an expression reads: its variables, keys of categories and personal data, and the literals it searches for. */
export function namesIn(tree: ASTNode): readonly RuleName[] {
  const names = new Map<string, RuleName>()
  for (const node of nodesOf(tree)) {
    const name = nameOf(node)
    if (name !== undefined) names.set(`${name.kind} ${name.name}`, name)
  }
  return [...names.values()]
}

/** The categories whose scores an expression reads. */
export const categoriesIn = (tree: ASTNode): readonly Category[] =>
  keysIn(tree, { variable: 'categories', kind: 'category', keys: categories })

/** The places whose scores of prompt injections an expression reads. */
export const injectionPlacesIn = (tree: ASTNode): readonly InjectionPlace[] =>
  keysIn(tree, { variable: 'prompt_injection', kind: 'prompt_injection', keys: injectionPlaces })

type ScoreMap<Key> = {
  readonly variable: keyof RuleFacts
  readonly kind: RuleName['kind']
  readonly keys: readonly Key[]
}

/** The keys that an expression reads of a map: all of them, if it uses the map in any other way than by literal keys. */
function keysIn<Key extends string>(tree: ASTNode, { variable, kind, keys }: ScoreMap<Key>): readonly Key[] {
  const read = new Set<string>()
  let keyed = 0
  let used = 0
  for (const node of nodesOf(tree)) {
    if (node.op === 'id' && node.args === variable) used += 1
    const name = node.op === '.' || node.op === '[]' ? nameOf(node) : undefined
    if (name?.kind !== kind) continue
    keyed += 1
    read.add(name.name)
  }
  return used > keyed ? keys : keys.filter((key) => read.has(key))
}

const variables = new Set<string>([
  'text',
  'direction',
  'model',
  'project',
  'user',
  'metadata',
  'categories',
  'pii',
  'prompt_injection',
] satisfies (keyof RuleFacts)[])

const searches = new Set(['contains', 'startsWith', 'endsWith', 'indexOf', 'lastIndexOf'])

function nameOf(node: ASTNode): RuleName | undefined {
  switch (node.op) {
    case 'id':
      return variables.has(node.args) ? { kind: 'variable', name: node.args } : undefined
    case '.':
      return keyOf(node.args[0], node.args[1])
    case '[]':
      return keyOf(node.args[0], literalOf(node.args[1]))
    case 'rcall':
      return searchOf(node)
    default:
      return undefined
  }
}

function keyOf(object: ASTNode, key: string | undefined): RuleName | undefined {
  if (object.op !== 'id' || key === undefined) return undefined
  if (object.args === 'categories') return { kind: 'category', name: key }
  if (object.args === 'pii') return { kind: 'personal_data', name: key }
  if (object.args === 'prompt_injection') return { kind: 'prompt_injection', name: key }
  return object.args === 'metadata' ? { kind: 'variable', name: `metadata.${key}` } : undefined
}

function searchOf({ args: [method, , [argument]] }: Extract<ASTNode, { op: 'rcall' }>): RuleName | undefined {
  const literal = literalOf(argument)
  if (literal === undefined || literal === '') return undefined
  if (method === 'matches') return { kind: 'pattern', name: literal }
  return searches.has(method) ? { kind: 'phrase', name: literal } : undefined
}
