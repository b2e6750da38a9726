import type { components } from '../../api/schema.d.ts'
import { quoted } from '../../kit/command.ts'
import type { Policy, PolicyCreate, PolicyUpdate } from './queries.ts'

/** The content of a draft, as OpenAPI describes it. */
export type PolicyContent = Omit<components['schemas']['PolicyDraft'], 'base_version'>

/** The fields of the form: those of the policy itself, which change at once, and the content of the draft. */
export type PolicyForm = Pick<Policy, Exclude<keyof PolicyUpdate & keyof Policy, 'revision'>> & PolicyContent

export const defaultThreshold = 5_000

type NameOf = (projectId: string) => string

/** The lines of each field in a diff, in this order. A field of the API without an entry does not compile. */
const fieldLines: Readonly<Record<keyof PolicyContent, (content: PolicyContent, nameOf: NameOf) => string[]>> = {
  rule: ({ rule }) => rule.split('\n'),
  direction: ({ direction }) => [`direction: ${direction}`],
  mode: ({ mode }) => [`mode: ${mode}`],
  scope: ({ scope }) => [`scope: ${scope}`],
  project_ids: ({ scope, project_ids: ids }, nameOf) =>
    scope === 'projects' ? ids.map((id) => `  ${nameOf(id)}`) : [],
  match_threshold_basis_points: ({ match_threshold_basis_points: threshold }) => [
    `match_threshold_basis_points: ${threshold ?? defaultThreshold}`,
  ],
  judge_window: ({ judge_window: window }) => [`judge_window: ${window}`],
  judge_when: ({ judge_when: when }) => (when === '' ? [] : [`judge_when: ${when}`]),
  pause_on_spike: ({ pause_on_spike: isPaused }) => [`pause_on_spike: ${isPaused}`],
}

const contentFields = Object.keys(fieldLines) as (keyof PolicyContent)[]

/** The content as lines, for a diff: the rule, then the settings. */
export const linesOf = (content: PolicyContent, nameOf: NameOf): string[] =>
  contentFields.flatMap((field) => fieldLines[field](content, nameOf))

/** Copies the content out of a draft, a version or a form. */
export const contentOf = (carrier: PolicyContent): PolicyContent =>
  Object.fromEntries(contentFields.map((field) => [field, carrier[field]])) as PolicyContent

export const formOf = ({ name, description, draft }: Policy): PolicyForm => ({ name, description, ...contentOf(draft) })

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The update that turns `base` into the form, with only the fields that differ. */
export function updateOf(form: PolicyForm, base: Policy): PolicyUpdate {
  const before: Record<string, unknown> = formOf(base)
  const changed = Object.entries(form).filter(([name, value]) => !isSame(value, before[name]))
  return { revision: base.revision, ...Object.fromEntries(changed) }
}

/** Options of the command line that are shorter than the name of their field. */
const shortOptions: { readonly [Name in keyof PolicyUpdate]?: string } = {
  project_ids: 'projects',
  match_threshold_basis_points: 'threshold',
}

/** The update as a command. */
export const commandOf = (policyId: string, { revision, ...fields }: PolicyUpdate): string =>
  [`gatehouse policies update ${policyId}`, ...optionsOf(fields), `--revision ${revision}`].join(' ')

export const createCommandOf = (fields: PolicyCreate): string =>
  ['gatehouse policies create', ...optionsOf(fields)].join(' ')

/** The values that an option can have. A field of another type does not compile until `wordOf` writes it. */
type OptionValue = string | number | boolean | null | readonly string[]

const optionsOf = (fields: PolicyCreate | Omit<PolicyUpdate, 'revision'>): string[] =>
  Object.entries<OptionValue>(fields).map(([name, value]) => `--${optionOf(name)} ${quoted(wordOf(value))}`)

const isShortened = (name: string): name is keyof typeof shortOptions => Object.hasOwn(shortOptions, name)

const optionOf = (name: string): string =>
  (isShortened(name) ? shortOptions[name] : undefined) ?? name.replaceAll('_', '-')

function wordOf(value: OptionValue): string {
  if (value === null) return 'none'
  return typeof value === 'object' ? value.join(',') : String(value)
}
