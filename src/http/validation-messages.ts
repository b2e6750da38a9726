import type { Problem } from '../base/fault.ts'
import { plural } from '../base/plural.ts'
import { isRecord } from '../base/record.ts'

/** The subset of JSON Schema that the gateway's schemas use. */
export type JsonSchema = {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly not?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly pattern?: string
}

type Path = Problem['path']

/** At most this many problems per branch, because a hostile body could have millions. */
const maxProblems = 20

/**
 * Describes what is wrong with a value. A validator only reports that no branch of a union matches; this names the
 * mistake in the intended branch. It runs only on invalid values, so it may be slow.
 */
export function* validationMessages(schema: JsonSchema, value: unknown, path: Path = []): Generator<Problem> {
  if (schema.allOf) for (const each of schema.allOf) yield* validationMessages(each, value, path)
  if (schema.anyOf) return yield* explainUnion(schema.anyOf.flatMap(branchesOf), value, path)
  if ('const' in schema && value !== schema.const) return yield problem(path, 'enum', `must be ${quoted(schema.const)}`)
  if (schema.enum && !schema.enum.includes(value)) return yield problem(path, 'enum', oneOf(schema.enum))
  if (schema.not?.enum?.includes(value)) return yield problem(path, 'enum', `must not be ${quoted(value)}`)
  if (schema.type !== undefined && !isOfType(schema.type, value))
    return yield problem(path, 'type', mustBe([schema.type]))
  if (typeof value === 'string') yield* explainString(schema, value, path)
  else if (typeof value === 'number') yield* explainNumber(schema, value, path)
  else if (Array.isArray(value)) yield* explainArray(schema, value, path)
  else if (isRecord(value)) yield* explainObject(schema, value, path)
}

/** Flattens nested unions. */
const branchesOf = (branch: JsonSchema): readonly JsonSchema[] => branch.anyOf?.flatMap(branchesOf) ?? [branch]

function* explainUnion(branches: readonly JsonSchema[], value: unknown, path: Path): Generator<Problem> {
  const words = branches.flatMap((branch) => ('const' in branch ? [branch.const] : (branch.enum ?? [])))
  if (words.includes(value)) return // valid: another field is the mistake
  const shapes = branches.filter((branch) => !('const' in branch) && branch.enum === undefined)
  if (shapes.length === 0) return yield problem(path, 'enum', oneOf(words))
  const fitting = shapes.filter((branch) => branch.type === undefined || isOfType(branch.type, value))
  if (fitting.length === 0) {
    if (words.length > 0 && typeof value === typeof words[0]) return yield problem(path, 'enum', oneOf(words))
    return yield problem(path, 'type', mustBe(typesOf(branches)))
  }
  const intended = isRecord(value) ? fitting.filter((branch) => tagMismatch(branch, value) === undefined) : fitting
  if (intended.length > 0)
    return yield* mostHelpful(intended.map((branch) => [...validationMessages(branch, value, path).take(maxProblems)]))
  yield* explainTag(fitting, value, path)
}

/** Every branch names another tag than the value does (`type: "txt"`): the tag itself is the mistake. */
function* explainTag(branches: readonly JsonSchema[], value: unknown, path: Path): Generator<Problem> {
  const tags = branches
    .flatMap((branch) => (isRecord(value) ? [tagMismatch(branch, value)] : []))
    .filter((tag) => tag !== undefined)
  const [first] = tags
  if (first === undefined) return
  if (isRecord(value) && value[first.key] === undefined)
    return yield problem([...path, first.key], 'missing', 'is required')
  const allowed = tags.filter((tag) => tag.key === first.key).flatMap((tag) => tag.allowed)
  yield problem([...path, first.key], 'enum', allowed.length === 0 ? 'has a value that is not allowed' : oneOf(allowed))
}

/** The first tag property of a branch that the value contradicts. */
function tagMismatch(
  branch: JsonSchema,
  value: Record<string, unknown>,
): { key: string; allowed: unknown[] } | undefined {
  for (const [key, schema] of Object.entries(branch.properties ?? {})) {
    const actual = value[key]
    if (actual === undefined && !branch.required?.includes(key)) continue
    if ('const' in schema && actual !== schema.const) return { key, allowed: [schema.const] }
    // A field that allows no value is a tag too: an object with the field belongs to another branch.
    if (schema.not && (actual === undefined || (schema.not.enum ?? [actual]).includes(actual)))
      return { key, allowed: [] }
  }
  return undefined
}

/** The problems of the branch that comes closest: the one with the deepest problems, then with the fewest. */
function* mostHelpful(attempts: readonly Problem[][]): Generator<Problem> {
  const depth = (problems: readonly Problem[]): number => Math.max(...problems.map((each) => each.path.length))
  if (attempts.some((problems) => problems.length === 0)) return
  const [best] = attempts.toSorted((left, right) => depth(right) - depth(left) || left.length - right.length)
  yield* best ?? []
}

function* explainString(schema: JsonSchema, value: string, path: Path): Generator<Problem> {
  const { minLength, maxLength, pattern } = schema
  const length = minLength === undefined && maxLength === undefined ? 0 : characters(value)
  if (minLength === 1 && length === 0) yield problem(path, 'bounds', 'must not be empty')
  else if (minLength !== undefined && length < minLength) {
    yield problem(path, 'bounds', `must have at least ${plural(minLength, 'character')}`)
  }
  if (maxLength !== undefined && length > maxLength) {
    yield problem(path, 'bounds', `must have at most ${plural(maxLength, 'character')}`)
  }
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value))
    yield problem(path, 'pattern', `must match ${pattern}`)
}

function* explainNumber(schema: JsonSchema, value: number, path: Path): Generator<Problem> {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema
  if (minimum !== undefined && value < minimum) yield problem(path, 'bounds', `must be at least ${minimum}`)
  if (maximum !== undefined && value > maximum) yield problem(path, 'bounds', `must be at most ${maximum}`)
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) {
    yield problem(path, 'bounds', `must be more than ${exclusiveMinimum}`)
  }
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) {
    yield problem(path, 'bounds', `must be less than ${exclusiveMaximum}`)
  }
}

function* explainArray(schema: JsonSchema, value: readonly unknown[], path: Path): Generator<Problem> {
  const { minItems, maxItems, items } = schema
  if (minItems !== undefined && value.length < minItems) {
    yield problem(path, 'bounds', `must have at least ${plural(minItems, 'item')}`)
  }
  if (maxItems !== undefined && value.length > maxItems) {
    return yield problem(path, 'bounds', `must have at most ${plural(maxItems, 'item')}`)
  }
  if (items !== undefined)
    for (const [at, item] of value.entries()) yield* validationMessages(items, item, [...path, at])
}

function* explainObject(schema: JsonSchema, value: Record<string, unknown>, path: Path): Generator<Problem> {
  const { properties = {}, required = [], additionalProperties, patternProperties } = schema
  for (const key of required) {
    if (value[key] === undefined) yield problem([...path, key], 'missing', 'is required')
  }
  const patterns = Object.entries(patternProperties ?? {}).map(
    ([pattern, each]) => [new RegExp(pattern, 'u'), each] as const,
  )
  for (const [key, item] of Object.entries(value)) {
    const known = Object.hasOwn(properties, key)
      ? properties[key]
      : patterns.find(([pattern]) => pattern.test(key))?.[1]
    if (item === undefined) continue
    if (known !== undefined) yield* validationMessages(known, item, [...path, key])
    else if (additionalProperties === false) yield problem([...path, key], 'unknown', 'is not a known field')
    else if (typeof additionalProperties === 'object')
      yield* validationMessages(additionalProperties, item, [...path, key])
  }
}

const problem = (path: Path, type: string, message: string): Problem => ({ path, type, message })

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'object':
      return isRecord(value)
    case 'array':
      return Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    case 'null':
      return value === null
    default:
      return typeof value === type
  }
}

/** Counts like the validator: an emoji is one character. */
const characters = (text: string): number => text.length - (text.match(/[\u{10000}-\u{10ffff}]/gu)?.length ?? 0)

const typesOf = (branches: readonly JsonSchema[]): string[] => [
  ...new Set(branches.map((branch) => branch.type ?? typeof (branch.const ?? branch.enum?.[0]))),
]

const article = (type: string): string => (type === 'null' ? 'null' : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`)
const mustBe = (types: readonly string[]): string => `must be ${listed(types.map(article))}`
const oneOf = (values: readonly unknown[]): string =>
  `must be ${values.length > 1 ? 'one of ' : ''}${listed(values.map(quoted))}`
const quoted = (value: unknown): string => (typeof value === 'string' ? `"${value}"` : String(value))

function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join('')
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
