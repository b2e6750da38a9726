import type { ReactNode } from 'react'
import type { Names } from '../../api/names.ts'
import { DecisionBadge, decisionName } from '../../kit/decision-badge.tsx'
import { count, dollars, milliseconds, time } from '../../kit/format.ts'
import { words } from '../../words/en.ts'
import { isFromPlayground, type RequestRow } from './queries.ts'
import type { FilterField, MinimumName, RequestSearch } from './search.ts'

export type ColumnNames = { readonly projects: Names; readonly keys: Names }

/** What a click on a cell filters by. */
export type CellFilter = { readonly field: FilterField; readonly value: string; readonly name: string }
/** Numbers are filtered by a minimum. */
export type CellMinimum = { readonly minimum: MinimumName; readonly value: number; readonly name: string }

export type Column = {
  readonly id: string
  readonly name: string
  /** In pixels. Columns of texts share what is left by the length of their texts. */
  readonly width?: number
  readonly isNumber?: boolean
  /** 1 is shown on every screen, 2 not on small ones, 3 only on wide ones. */
  readonly priority: 1 | 2 | 3
  readonly text: (row: RequestRow, names: ColumnNames) => string
  /** The text in another form. */
  readonly cell?: (row: RequestRow) => ReactNode
  readonly filter?: (row: RequestRow, name: string) => CellFilter | CellMinimum | undefined
}

const text = words.requests
const none = words.common.none

const filterBy =
  (field: FilterField, valueOf: (row: RequestRow) => string | null) =>
  (row: RequestRow, name: string): CellFilter | undefined => {
    const value = valueOf(row)
    return value === null || value === '' ? undefined : { field, value, name }
  }

const minimumOf =
  (minimum: MinimumName, valueOf: (row: RequestRow) => number | null) =>
  (row: RequestRow, name: string): CellMinimum | undefined => {
    const value = valueOf(row)
    return value === null ? undefined : { minimum, value, name }
  }

export const columns: readonly Column[] = [
  { id: 'time', name: text.time, width: 128, priority: 1, text: (row) => time(row.created_at_ms) },
  {
    id: 'decision',
    name: text.decision,
    width: 108,
    priority: 1,
    text: (row) => (row.status === 'error' ? text.statuses.error : decisionName(row.decision)),
    cell: (row) => (
      <DecisionBadge decision={row.decision} isEnforced={row.is_enforced} isError={row.status === 'error'} />
    ),
    filter: (row, name) =>
      row.status === 'error'
        ? { field: 'status', value: row.status, name }
        : { field: 'decision', value: row.decision, name },
  },
  { id: 'reason', name: text.reason, priority: 1, text: reasonOf, cell: reasonCell, filter: reasonFilter },
  {
    id: 'model',
    name: text.model,
    priority: 2,
    text: (row) => row.model,
    filter: filterBy('model', (row) => row.model),
  },
  {
    id: 'project',
    name: text.project,
    priority: 2,
    text: (row, { projects }) => projects.get(row.project_id ?? '') ?? row.project_id ?? none,
    filter: filterBy('project_id', (row) => row.project_id),
  },
  {
    id: 'key',
    name: text.key,
    priority: 3,
    text: (row, { keys }) =>
      isFromPlayground(row) ? text.playground : (keys.get(row.api_key_id ?? '') ?? row.api_key_id ?? none),
    filter: filterBy('api_key_id', (row) => row.api_key_id),
  },
  {
    id: 'user',
    name: text.user,
    priority: 3,
    text: (row) => row.user_id ?? none,
    filter: filterBy('user_id', (row) => row.user_id),
  },
  {
    id: 'tokens',
    name: text.tokens,
    width: 68,
    isNumber: true,
    priority: 3,
    text: (row) => (row.input_tokens === null ? none : count(row.input_tokens + (row.output_tokens ?? 0))),
  },
  {
    id: 'cost',
    name: text.cost,
    width: 92,
    isNumber: true,
    priority: 2,
    text: (row) => dollars(row.cost_usd),
    filter: minimumOf('min_cost_usd', (row) => row.cost_usd),
  },
  {
    id: 'latency',
    name: text.latency,
    width: 76,
    isNumber: true,
    priority: 1,
    text: (row) => milliseconds(row.latency_ms),
    filter: minimumOf('min_ms', (row) => (row.latency_ms === null ? null : Math.floor(row.latency_ms))),
  },
]

/** Why a request was decided as it was: the error, the policy's name, the categories, or the reason's code. */
function reasonOf(row: RequestRow): string {
  if (row.status === 'error' && row.error !== null) return row.error
  if (row.policy_name !== null) return row.policy_name
  if (row.categories.length > 0) return row.categories.join(', ')
  return row.check === 'gateway' ? words.request.checks.gateway : (row.reason_code ?? none)
}

function reasonCell(row: RequestRow): ReactNode {
  const reason = reasonOf(row)
  if (reason === none) return <span className="none">{none}</span>
  return reason === row.error || reason === row.reason_code ? <code>{reason}</code> : reason
}

function reasonFilter(row: RequestRow): CellFilter | undefined {
  const { error, policy_id: policyId, policy_name: policyName, categories, reason_code: code } = row
  if (row.status === 'error' && error !== null) return { field: 'error', value: error, name: error }
  if (policyId !== null && policyName !== null) return { field: 'policy_id', value: policyId, name: policyName }
  const [category] = categories
  if (category !== undefined) return { field: 'category', value: category, name: category }
  return code === null ? undefined : { field: 'reason_code', value: code, name: code }
}

/** The columns that the address names, or all of them. */
export function chosenColumns(chosen: RequestSearch['columns']): readonly Column[] {
  if (chosen === undefined) return columns
  const ids = new Set(String(chosen).split(','))
  return columns.filter(({ id }) => id === 'time' || ids.has(id))
}

const [shortest, longest] = [7, 30]
/** Rows whose texts decide the widths. */
const measuredRows = 100

/** The space around a text, as a number of letters. */
const padding = 4

/** How much of the free width each column without a fixed one gets: the length of its longest text. */
export function sharesOf(
  shown: readonly Column[],
  rows: readonly RequestRow[],
  names: ColumnNames,
): ReadonlyMap<string, number> {
  const measured = rows.slice(0, measuredRows)
  const flexible = shown.filter(({ width }) => width === undefined)
  return new Map(
    flexible.map(({ id, name, text: textOf }) => {
      const length = Math.max(name.length, ...measured.map((row) => textOf(row, names).length))
      return [id, Math.min(longest, Math.max(shortest, length)) + padding]
    }),
  )
}
