import { isRecord } from '../../../base/record.ts'

/** A sink's configuration, as JSON. */
export type Configuration = { readonly [name: string]: unknown }

/** Secrets by their dotted path: `auth.password`. */
export type Secrets = Readonly<Record<string, string>>

const dots = '••••'
const shownCharacters = 4
const shortestShown = 16

/** What is shown instead of a secret: enough to recognise a long one by, nothing of a short one. */
export const maskOf = (secret: string): string =>
  secret.length < shortestShown ? dots : dots + secret.slice(-shownCharacters)

/** Whether this stands for some secret: it is none itself. */
export const isMask = (value: unknown): boolean => typeof value === 'string' && value.startsWith(dots)

/** The secrets that stand in a configuration. */
export function secretsIn(config: Configuration, fields: readonly string[]): Secrets {
  const found = fields.map((field) => [field, valueAt(config, field)] as const)
  return Object.fromEntries(found.flatMap(([field, value]) => (typeof value === 'string' ? [[field, value]] : [])))
}

/** The configuration with masks in the places of its secrets: this is what is stored in the open, and shown. */
export const withMasks = (config: Configuration, secrets: Secrets): Configuration =>
  withValues(config, Object.fromEntries(Object.entries(secrets).map(([field, secret]) => [field, maskOf(secret)])))

/** The configuration with these values at these paths. */
export const withValues = (config: Configuration, values: Secrets): Configuration =>
  Object.entries(values).reduce((result, [field, value]) => withValueAt(result, field.split('.'), value), config)

/**
 * A change merged into a configuration, field by field; null takes a field away. A part that becomes of another
 * `type` is replaced, since its old fields mean nothing any more.
 */
export function merged(config: Configuration, change: Configuration): Configuration {
  const result: Record<string, unknown> = { ...config }
  for (const [name, value] of Object.entries(change)) {
    if (value === null) delete result[name]
    else result[name] = isConfiguration(value) ? mergedPart(result[name], value) : value
  }
  return result
}

function mergedPart(before: unknown, change: Configuration): Configuration {
  if (!isConfiguration(before)) return merged({}, change)
  const isOther = change['type'] !== undefined && change['type'] !== before['type']
  return merged(isOther ? {} : before, change)
}

/** The change without secrets that say no more than the mask that was shown. */
export function withoutMasks(change: Configuration, shown: Configuration, fields: readonly string[]): Configuration {
  const isKept = (field: string): boolean => {
    const value = valueAt(change, field)
    return value !== undefined && value === valueAt(shown, field)
  }
  return fields.filter(isKept).reduce((result, field) => withValueAt(result, field.split('.'), undefined), change)
}

/** The fields among these that have another value than before. */
export const changedFields = (before: Configuration, after: Configuration, fields: readonly string[]): string[] =>
  fields.filter((field) => JSON.stringify(valueAt(before, field)) !== JSON.stringify(valueAt(after, field)))

export function valueAt(config: Configuration, field: string): unknown {
  let value: unknown = config
  for (const name of field.split('.')) value = isConfiguration(value) ? value[name] : undefined
  return value
}

/** Undefined takes the field away. */
function withValueAt(config: Configuration, [name = '', ...rest]: readonly string[], value: unknown): Configuration {
  const { [name]: before, ...others } = config
  if (rest.length === 0) return value === undefined ? others : { ...config, [name]: value }
  return isConfiguration(before) ? { ...config, [name]: withValueAt(before, rest, value) } : config
}

export const isConfiguration: (value: unknown) => value is Configuration = isRecord
