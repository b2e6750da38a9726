import { quoted } from '../../kit/curl.ts'
import type { Policy, PolicyCreate, PolicyUpdate, PolicyVersion } from './queries.ts'

/** The fields of the form: the name, which changes at once, and the content of the draft. */
export type PolicyForm = { readonly name: string } & PolicyContent

export type PolicyContent = Pick<
  PolicyVersion,
  | 'rule'
  | 'direction'
  | 'mode'
  | 'scope'
  | 'project_ids'
  | 'match_threshold_basis_points'
  | 'judge_window'
  | 'pause_on_spike'
>

export const defaultThreshold = 5_000

export const contentOf = (content: PolicyContent): PolicyContent => ({
  rule: content.rule,
  direction: content.direction,
  mode: content.mode,
  scope: content.scope,
  project_ids: content.project_ids,
  match_threshold_basis_points: content.match_threshold_basis_points,
  judge_window: content.judge_window,
  pause_on_spike: content.pause_on_spike,
})

export const formOf = ({ name, draft }: Policy): PolicyForm => ({ name, ...contentOf(draft) })

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The update that turns `base` into the form, with only the fields that differ. */
export function updateOf(form: PolicyForm, base: Policy): PolicyUpdate {
  const before: Record<string, unknown> = formOf(base)
  const changed = Object.entries(form).filter(([name, value]) => !isSame(value, before[name]))
  return { revision: base.revision, ...Object.fromEntries(changed) }
}

/** The content as lines, for a diff: the rule, then one line for each setting. */
export function linesOf(content: PolicyContent, nameOf: (projectId: string) => string): string[] {
  const { rule, direction, mode, scope, project_ids: projects, judge_window: window } = content
  const threshold = content.match_threshold_basis_points ?? defaultThreshold
  return [
    ...rule.split('\n'),
    `direction: ${direction}`,
    `mode: ${mode}`,
    `scope: ${scope}`,
    ...(scope === 'projects' ? projects.map((id) => `  ${nameOf(id)}`) : []),
    `match_threshold_basis_points: ${threshold}`,
    `judge_window: ${window}`,
    `pause_on_spike: ${content.pause_on_spike}`,
  ]
}

/** Options of the command line that are shorter than the name of their field. */
const shortOptions: Readonly<Record<string, string>> = {
  project_ids: 'projects',
  match_threshold_basis_points: 'threshold',
}

/** The update as a command. */
export const commandOf = (policyId: string, { revision, ...fields }: PolicyUpdate): string =>
  [`gatehouse policies update ${policyId}`, ...optionsOf(fields), `--revision ${revision}`].join(' ')

export const createCommandOf = (fields: PolicyCreate): string =>
  ['gatehouse policies create', ...optionsOf(fields)].join(' ')

const optionsOf = (fields: object): string[] =>
  Object.entries(fields).map(([name, value]: [string, unknown]) => {
    const option = shortOptions[name] ?? name.replaceAll('_', '-')
    const word = value === null ? 'none' : Array.isArray(value) ? value.join(',') : String(value)
    return `--${option} ${quoted(word)}`
  })
