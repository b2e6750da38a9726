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
  /** In pixels, if the length of the text does not tell it. */
  readonly width?: number
  /** As wide as its texts; the other columns share what is left. */
  readonly isFixed?: true
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
  { id: 'time', name: text.time, isFixed: true, priority: 1, text: (row) => time(row.created_at_ms) },
  {
    id: 'decision',
    name: text.decision,
    width: 108,
    isFixed: true,
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
    isFixed: true,
    isNumber: true,
    priority: 3,
    text: (row) => (row.input_tokens === null ? none : count(row.input_tokens + (row.output_tokens ?? 0))),
  },
  {
    id: 'cost',
    name: text.cost,
    isFixed: true,
    isNumber: true,
    priority: 2,
    text: (row) => dollars(row.cost_usd),
    filter: minimumOf('min_cost_usd', (row) => row.cost_usd),
  },
  {
    id: 'latency',
    name: text.latency,
    isFixed: true,
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

/** Longer texts are cut. */
const longest = 30
/** Rows whose texts decide the widths. */
const measuredRows = 100
/** In pixels: a letter, the space around a text, and the edge of the page beside the first and the last column. */
const [letter, padding, edge] = [7, 24, 16]

/** The width of each column in pixels, by its longest text. `zone` stands behind the name of the time. */
export function widthsOf(
  shown: readonly Column[],
  rows: readonly RequestRow[],
  { names, zone }: { readonly names: ColumnNames; readonly zone: string },
): ReadonlyMap<string, number> {
  const measured = rows.slice(0, measuredRows)
  return new Map(
    shown.map(({ id, name, width, text: textOf }, at) => {
      const head = id === 'time' ? name.length + 1 + zone.length : name.length
      const length = Math.max(head, ...measured.map((row) => textOf(row, names).length))
      const ownWidth = width ?? Math.min(longest, length) * letter + padding
      return [id, ownWidth + (at === 0 || at === shown.length - 1 ? edge : 0)]
    }),
  )
}
