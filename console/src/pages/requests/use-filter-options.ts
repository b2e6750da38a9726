import { useModelNames, useKeyNames, usePolicyNames, useProjectNames, type Names } from '../../api/names.ts'
import { decisionName } from '../../kit/decision-badge.tsx'
import { useMay } from '../../session/session.tsx'
import { words } from '../../words/en.ts'
import type { FilterOption } from './filter-text.ts'
import type { RequestRow } from './queries.ts'
import type { FilterField } from './search.ts'

/** The values that can be chosen for each field, with their names. */
export type FilterOptions = Readonly<Record<FilterField, readonly FilterOption[]>>

/** Fields with values that no list has: those of requests that are not loaded. */
export const openFields: ReadonlySet<FilterField> = new Set(['model', 'user_id', 'reason_code', 'error', 'category'])

const decisions = ['allow', 'redact', 'rewrite', 'summary', 'escalate', 'refuse', 'not_evaluated'] as const
const statuses = ['ok', 'denied', 'error'] as const

const enumerated = {
  decision: decisions.map((value) => ({ value, name: decisionName(value) })),
  status: statuses.map((value) => ({ value, name: words.requests.statuses[value] })),
}

/** From the lists of the organization, and from the requests that are loaded. */
export function useFilterOptions(rows: readonly RequestRow[]): FilterOptions {
  const [projects, keys, models] = [useProjectNames(), useKeyNames(), useModelNames()]
  const policies = usePolicyNames(useMay('policies:read'))
  const seen = (valueOf: (row: RequestRow) => readonly (string | null)[]): FilterOption[] =>
    [...new Set(rows.flatMap(valueOf))].flatMap((value) => (value === null ? [] : [{ value, name: value }]))
  const decided = new Map(rows.flatMap(({ policy_id: id, policy_name: name }) => (id && name ? [[id, name]] : [])))
  return {
    ...enumerated,
    policy_id: optionsOf(new Map([...decided, ...policies])),
    project_id: optionsOf(projects),
    api_key_id: optionsOf(keys),
    model: [...new Set([...models, ...rows.map(({ model }) => model)])].map((value) => ({ value, name: value })),
    user_id: seen((row) => [row.user_id]),
    reason_code: seen((row) => [row.reason_code]),
    error: seen((row) => [row.error]),
    category: seen((row) => row.categories),
  }
}

const optionsOf = (names: Names): FilterOption[] => [...names].map(([value, name]) => ({ value, name }))

/** The name of a value, or the value where it has none. */
export const nameOfValue = (options: FilterOptions, field: FilterField, value: string): string =>
  options[field].find((option) => option.value === value)?.name ?? value
