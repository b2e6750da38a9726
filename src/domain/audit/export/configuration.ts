import { isRecord } from '../../../base/record.ts'

/** A sink's configuration, as JSON. */
export type Configuration = { readonly [name: string]: unknown }

/** Secrets by their dotted path: `auth.password`. */
export type Secrets = Readonly<Record<string, string>>

const dots = '••••'
const shownCharacters = 4
const shortestShown = 16

/** The mask of a secret: its last characters if it is long enough, else dots only. */
export const maskOf = (secret: string): string =>
  secret.length < shortestShown ? dots : dots + secret.slice(-shownCharacters)

/** Whether a value is the mask of a secret. */
export const isMask = (value: unknown): boolean => typeof value === 'string' && value.startsWith(dots)

/** The secrets in a configuration, by field. */
export function secretsIn(config: Configuration, fields: readonly string[]): Secrets {
  const values = fields.map((field) => [field, valueAt(config, field)] as const)
  return Object.fromEntries(values.flatMap(([field, value]) => (typeof value === 'string' ? [[field, value]] : [])))
}

/** The configuration with masks in place of its secrets: this form is stored unencrypted and returned by the API. */
export const withMasks = (config: Configuration, secrets: Secrets): Configuration =>
  withValues(config, Object.fromEntries(Object.entries(secrets).map(([field, secret]) => [field, maskOf(secret)])))

/** The configuration with these values at these paths. */
export const withValues = (config: Configuration, values: Secrets): Configuration =>
  Object.entries(values).reduce((result, [field, value]) => withValueAt(result, field.split('.'), value), config)

/**
 * A change merged into a configuration, field by field; null removes a field. An object whose `type` changes is
 * replaced, because its old fields no longer apply.
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

/** The change without secrets that only repeat the mask from an earlier response. */
export function withoutMasks(change: Configuration, shown: Configuration, fields: readonly string[]): Configuration {
  const isKept = (field: string): boolean => {
    const value = valueAt(change, field)
    return value !== undefined && value === valueAt(shown, field)
  }
  return fields.filter(isKept).reduce((result, field) => withValueAt(result, field.split('.'), undefined), change)
}

/** Those of `fields` whose value changed. */
export const changedFields = (before: Configuration, after: Configuration, fields: readonly string[]): string[] =>
  fields.filter((field) => JSON.stringify(valueAt(before, field)) !== JSON.stringify(valueAt(after, field)))

export function valueAt(config: Configuration, field: string): unknown {
  let value: unknown = config
  for (const name of field.split('.')) value = isConfiguration(value) ? value[name] : undefined
  return value
}

/** `undefined` removes the field. */
function withValueAt(config: Configuration, [name = '', ...rest]: readonly string[], value: unknown): Configuration {
  const { [name]: before, ...others } = config
  if (rest.length === 0) return value === undefined ? others : { ...config, [name]: value }
  return isConfiguration(before) ? { ...config, [name]: withValueAt(before, rest, value) } : config
}

export const isConfiguration: (value: unknown) => value is Configuration = isRecord
