import type { Static, TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Fault, isFault, type Problem } from '../base/fault.ts'
import { validationMessages, type JsonSchema } from './validation-messages.ts'

const maxProblems = 20
/** How many problems the message names. */
const maxNamed = 3
const maxMessageLength = 300
const maxNameLength = 64
const maxInputLength = 1000

/** Validates a value against a schema and returns it typed. Throws a fault that names the invalid field. */
export type Validate<Value> = (value: unknown) => Value

/**
 * Compiles the schema on first use, so that the start does not wait for all schemas. A valid value costs one call of the
 * compiled check. Messages are only built for an invalid one.
 */
export function createValidator<Schema extends TSchema>(schema: Schema): Validate<Static<Schema>> {
  let compiled: ReturnType<typeof Compile<Schema>> | undefined
  const isValid = (value: unknown): value is Static<Schema> => (compiled ??= Compile(schema)).Check(value)
  return (value) => {
    if (isValid(value)) return value
    const problems = Array.from(validationMessages(schema, value).take(maxProblems), (problem) =>
      withInput(problem, value),
    )
    throw invalid(problems.length > 0 ? problems : [unspecific(compiled?.Errors(value)[0]?.message)])
  }
}

/**
 * The same for a query string, whose values are all strings: converts numbers and booleans to the schema's type, and
 * fills in the schema's `default`.
 */
export function createQueryValidator<Schema extends TObject>(schema: Schema): Validate<Static<Schema>> {
  const validate = createValidator(schema)
  const properties = Object.entries<JsonSchema & { readonly default?: unknown }>(schema.properties)
  return (query) => {
    const given: Record<string, unknown> = { ...(typeof query === 'object' ? query : {}) }
    for (const [name, property] of properties) {
      const value = given[name] === undefined ? property.default : fromText(property, given[name], name)
      if (value !== undefined) given[name] = value
    }
    return validate(given)
  }
}

function fromText(schema: JsonSchema, value: unknown, name: string): unknown {
  if (schema.type === 'array') return Array.isArray(value) ? value : [value]
  if (Array.isArray(value)) throw invalid([{ path: [name], type: 'type', message: 'must be given only once' }])
  const isNumeric = schema.type === 'integer' || schema.type === 'number'
  if (isNumeric && typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)) return Number(value)
  if (schema.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}

/** A fault that names one field, in the format of schema errors. For rules that a schema cannot express. */
export function invalidField(path: Problem['path'], message: string): Fault {
  return invalid([{ path, type: 'value', message }])
}

/** `['messages', 0, 'content']` as a caller would write it: `messages[0].content`. */
export function fieldName(path: Problem['path']): string {
  let name = ''
  for (const step of path) {
    if (typeof step === 'number') name += `[${step}]`
    else if (/^[\w$-]+$/.test(step))
      name += name === '' ? clipped(step, maxNameLength) : `.${clipped(step, maxNameLength)}`
    else name += `[${JSON.stringify(clipped(step, maxNameLength))}]`
  }
  return name
}

function invalid(problems: readonly Problem[]): Fault {
  const [first] = problems
  const param = first === undefined ? '' : fieldName(first.path)
  const named = problems.slice(0, maxNamed).map(({ path, message: text }) => {
    const name = fieldName(path)
    return clipped(`${name === '' ? 'body' : name}: ${text}`, maxMessageLength)
  })
  const rest = problems.length - named.length
  const message = named.join('; ') + (rest > 0 ? ` (and ${rest} more)` : '')
  return new Fault('validation', 'invalid_parameter', message, { problems, ...(param === '' ? {} : { param }) })
}

/** Adds the invalid value to a fault that was thrown without one, such as `invalidField`. Other errors are unchanged. */
export function withInputs(error: unknown, body: unknown): unknown {
  if (!isFault(error) || error.details.problems === undefined) return error
  const problems = error.details.problems.map((problem) => ('input' in problem ? problem : withInput(problem, body)))
  return new Fault(error.kind, error.code, error.message, { ...error.details, problems })
}

/** Adds the invalid value to the problem, or the object that lacks it. */
function withInput(problem: Problem, body: unknown): Problem {
  let value = body
  for (const step of problem.path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) break
    value = Reflect.get(value, step)
  }
  const json = JSON.stringify(value) ?? ''
  return { ...problem, input: json.length > maxInputLength ? clipped(json, maxInputLength) : value }
}

const unspecific = (message = 'is not valid'): Problem => ({ path: [], type: 'value', message })

const clipped = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text
