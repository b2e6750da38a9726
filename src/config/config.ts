import { existsSync, readFileSync } from 'node:fs'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { parse } from 'yaml'
import { setFileValues, pathIn, readSecretText, type FileValue } from './file-values.ts'
import { setOrigins } from './origins.ts'
import { withOtelVariables } from './otel-variables.ts'
import { ConfigSchema, type Config } from './schema.ts'

export type { Config } from './schema.ts'

/** Errors in the configuration. Each problem names the key and what to do. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`The configuration is invalid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.name = 'ConfigError'
  }
}

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Reads the file, then applies the environment; validates the result, adds defaults, and freezes it. */
export function readConfig(env: Environment): Config {
  const named = env['GATEHOUSE_CONFIG'] || undefined
  const file = named ?? './gatehouse.yaml'
  const values: FileValue[] = []
  const hasFile = existsSync(file) || named !== undefined
  const written = hasFile ? readFile({ file, env, values }) : {}
  const variables = new Map<string, string>()
  const warnings: string[] = []
  const config = checkConfig(withOtelVariables(withEnvironment(written, env, variables), env, { variables, warnings }))
  setFileValues(config, values)
  setOrigins(config, { file: hasFile ? file : undefined, written, variables, warnings })
  return config
}

/** Validates a configuration that is given as an object, as tests and tools do. */
export function checkConfig(input: unknown): Config {
  const value: unknown = Value.Default(ConfigSchema, expandShorthand(ConfigSchema, structuredClone(input)))
  const problems = [...unknownKeys(ConfigSchema, value, ''), ...problemsOf(value)]
  if (problems.length > 0) throw new ConfigError(problems)
  const config = deepFreeze(value as Config)
  setOrigins(config, { file: undefined, written: input, variables: new Map(), warnings: [] })
  return config
}

type Substitutes = {
  /** Path of the configuration file. */
  readonly file: string
  readonly env: Environment
  /** Collects the values that come from files. */
  readonly values: FileValue[]
}

function readFile({ file, env, values }: Substitutes): Record<string, unknown> {
  let parsed: unknown
  try {
    parsed = parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new ConfigError([`${file}: ${error instanceof Error ? error.message : String(error)}`])
  }
  if (parsed === null || parsed === undefined) return {}
  if (typeof parsed !== 'object' || Array.isArray(parsed))
    throw new ConfigError([`${file} must contain keys and values`])
  return substitute(parsed, { env, values, file }, '') as Record<string, unknown>
}

/** Replaces `${NAME}` in strings by a variable, and `${file:/path}` by the text of a file. A missing one is an error. */
function substitute(value: unknown, from: Substitutes, path: string): unknown {
  if (typeof value === 'string') return substituteText(value, from, path)
  if (Array.isArray(value)) return value.map((item, at) => substitute(item, from, `${path}[${at}]`))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, substitute(item, from, path === '' ? key : `${path}.${key}`)]),
  )
}

/** Replaced in one pass: references inside the text of a variable or file are not replaced. */
const reference = /\$\{(?:file:([^}]+)|(\w+))\}/g

function substituteText(text: string, { env, file, values }: Substitutes, field: string): string {
  const read = (): string => resolveReferences(text, { env, file, field })
  const takesFile = [...text.matchAll(reference)].some(([, path]) => path !== undefined)
  if (takesFile) values.push({ field, read })
  return orConfigError(read)
}

/** Where references of a field are looked up: a path of a file is relative to `file`. */
export type ReferenceSource = { readonly env: Environment; readonly file: string; readonly field: string }

/** The text with the values of its variables and files. A missing one is an error that names the field. */
export const resolveReferences = (text: string, { env, file, field }: ReferenceSource): string =>
  text.replaceAll(reference, (_, path: string | undefined, name = '') => {
    if (path !== undefined) return readSecretText(pathIn(file, path), field)
    const value = env[name]
    if (value === undefined) throw new Error(`${field}: the variable ${name} is not set`)
    return value
  })

/** Whether the text is nothing but one reference, and so has no part of a secret in it. */
export const isReference = (text: string): boolean => new RegExp(`^${reference.source}$`).test(text)

function orConfigError<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error)])
  }
}

/** The schema keywords that reading the configuration needs. */
type SchemaNode = TSchema & {
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly items?: SchemaNode
  readonly type?: string | readonly string[]
  readonly env?: string
  /** Whether the variable with the suffix `_FILE` may name a file instead. */
  readonly envFile?: boolean
  /** The key that a plain value stands for, if the section is not written as an object. */
  readonly shorthand?: string
}

/** Expands sections that are written as a plain value. */
function expandShorthand(node: SchemaNode, value: unknown): unknown {
  if (node.shorthand !== undefined && typeof value === 'string') return { [node.shorthand]: value }
  if (!isRecord(value) || node.properties === undefined) return value
  const { properties } = node
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, expandShorthand(properties[key] ?? {}, item)]),
  )
}

/** Adds the path of each value that a variable replaces to `variables`, with the name of the variable. */
function withEnvironment(
  written: Record<string, unknown>,
  env: Environment,
  variables: Map<string, string>,
): Record<string, unknown> {
  const visit = (node: SchemaNode, section: Record<string, unknown>, path: string): Record<string, unknown> => {
    for (const [key, child] of Object.entries(node.properties ?? {})) {
      const given = child.env === undefined ? undefined : variableOf(child, child.env, env)
      if (child.env !== undefined && given !== undefined && given !== '') {
        section[key] = valueIn(given, child.type)
        variables.set(`${path}${key}`, child.env)
      }
      if (child.properties === undefined || !isRecord(section[key] ?? {})) continue
      const inner = visit(child, { ...(section[key] as object) }, `${path}${key}.`)
      if (Object.keys(inner).length > 0) section[key] = inner
    }
    return section
  }
  return visit(ConfigSchema, { ...written }, '')
}

/** A text that is no value of the type stays a text, which the validation then rejects. */
function valueIn(text: string, type: SchemaNode['type']): unknown {
  if (type === 'integer') return Number(text)
  if (type?.includes('integer')) return /^-?\d+$/.test(text) ? Number(text) : text
  return type === 'boolean' && /^(?:true|false)$/.test(text) ? text === 'true' : text
}

/** A variable, or the text of the file that `NAME_FILE` names, as containers get secrets. */
function variableOf({ envFile }: SchemaNode, name: string, env: Environment): string | undefined {
  const path = envFile ? env[`${name}_FILE`] || undefined : undefined
  if (path === undefined) return env[name]
  if (env[name]) throw new ConfigError([`${name} and ${name}_FILE are both set: choose one`])
  return orConfigError(() => readSecretText(path, `${name}_FILE`))
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function unknownKeys(node: SchemaNode, value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => unknownKeys(node.items ?? {}, item, `${path}[${at}]`))
  if (typeof value !== 'object' || value === null || node.properties === undefined) return []
  const known = node.properties
  return Object.entries(value).flatMap(([key, item]) => {
    const here = path === '' ? key : `${path}.${key}`
    if (known[key]) return unknownKeys(known[key], item, here)
    return [`${here} is not known; did you mean ${nearest(key, Object.keys(known))}?`]
  })
}

function problemsOf(value: unknown): string[] {
  const problems = [...Value.Errors(ConfigSchema, value)]
    .filter(({ keyword }) => keyword !== 'additionalProperties' && keyword !== 'boolean')
    .map(({ instancePath, message, params }) => `${dotted(instancePath)} ${message}${allowedValues(params)}`)
  return [...new Set(problems)]
}

const allowedValues = (params: object): string =>
  'allowedValues' in params && Array.isArray(params.allowedValues) ? `: ${params.allowedValues.join(', ')}` : ''

const dotted = (pointer: string): string =>
  pointer
    .slice(1)
    .replace(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.') || 'the configuration'

function nearest(word: string, candidates: readonly string[]): string {
  const ranked = candidates.map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
  return ranked.sort((a, b) => a.distance - b.distance)[0]?.candidate ?? 'nothing'
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const swap = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFreeze)
    Object.freeze(value)
  }
  return value
}
