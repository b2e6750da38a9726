import { policyFields, type PolicyContentBody, type PolicyField } from '../../app/client/policies.ts'
import { readRegularFile } from '../../base/regular-file.ts'
import { readList } from '../arguments.ts'
import { UsageError } from '../command.ts'

/** Options that are shorter than the name of their field. Any other option has the name of its field. */
const shortNames = { project_ids: 'projects', match_threshold_basis_points: 'threshold' } as const

type ShortName = typeof shortNames
type Hyphenated<Name> = Name extends `${infer First}_${infer Rest}` ? `${First}-${Hyphenated<Rest>}` : Name
type ContentOption = {
  [Name in keyof PolicyContentBody]: Name extends keyof ShortName ? ShortName[Name] : Hyphenated<Name>
}[keyof PolicyContentBody]

const isShortened = (name: string): name is keyof ShortName => Object.hasOwn(shortNames, name)

const optionOf = ({ name }: PolicyField): ContentOption =>
  (isShortened(name) ? shortNames[name] : name.replaceAll('_', '-')) as ContentOption

const contentFields: readonly PolicyField[] = Object.values(policyFields)

const contentOptions = Object.fromEntries(
  contentFields.map((field) => [optionOf(field), { type: 'string' }]),
) as Record<ContentOption, { readonly type: 'string' }>

/** The options that set the fields of a policy. */
export const fieldOptions = {
  name: { type: 'string' },
  description: { type: 'string' },
  'rule-file': { type: 'string' },
  ...contentOptions,
} as const

type FieldValues = { readonly [Option in keyof typeof fieldOptions]?: string | undefined }

/** The fields that were given, under the names of the API. */
export function fieldsOf(values: FieldValues): Record<string, unknown> {
  const { name, description } = values
  const given = { ...values, rule: ruleOf(values) }
  const content = contentFields.map((field) => [field.name, valueOf(field, given[optionOf(field)])] as const)
  const fields = [['name', name] as const, ['description', description] as const, ...content]
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
}

/** Choices are checked by the service, which lists them in its error. */
function valueOf(field: PolicyField, text: string | undefined): unknown {
  if (field.kind === 'set') return readList(text)
  if (field.kind === 'optional integer' && text !== undefined)
    return text === 'none' ? null : wholeNumber(text, `--${optionOf(field)}`)
  return field.kind === 'flag' && text !== undefined ? flagOf(text, `--${optionOf(field)}`) : text
}

function flagOf(text: string, name: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new UsageError(`${name} must be true or false.`)
}

function ruleOf({ rule, 'rule-file': file }: FieldValues): string | undefined {
  if (file === undefined) return rule
  if (rule !== undefined) throw new UsageError('Use --rule or --rule-file, not both.')
  return readRegularFile(file).trim()
}

export function wholeNumber(text: string, name: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new UsageError(`${name} must be a whole number.`)
}

/** The options of `create` and `update` besides the name and the rule, one per line. */
export const fieldUsage = [
  '--rule-file FILE',
  '--description TEXT',
  ...contentFields.filter(({ name }) => name !== 'rule').map((field) => `--${optionOf(field)} ${placeholderOf(field)}`),
].join('\n        ')

function placeholderOf(field: PolicyField): string {
  if (field.kind === 'choice') return field.choices.join('|')
  if (field.kind === 'optional integer') return `${field.minimum}..${field.maximum} (or none)`
  if (field.kind === 'flag') return 'true|false'
  if (field.kind === 'expression') return 'EXPRESSION'
  return field.kind === 'set' ? 'ID,ID' : 'TEXT'
}
