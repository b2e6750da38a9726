import type { ReactNode } from 'react'
import type { Names } from '../../api/names.ts'
import { DecisionBadge } from '../../kit/decision-badge.tsx'
import { count, dollars, milliseconds, time } from '../../kit/format.ts'
import { words } from '../../words/en.ts'
import { isFromPlayground, type RequestRow } from './queries.ts'
import type { FilterName } from './search.ts'

export type ColumnNames = { readonly projects: Names; readonly keys: Names }

export type Column = {
  readonly id: string
  readonly name: string
  /** In pixels; a column without a width shares what is left. */
  readonly width?: number
  readonly isNumber?: boolean
  /** 1 is shown on every screen, 2 not on small ones, 3 only on wide ones. */
  readonly priority: 1 | 2 | 3
  readonly cell: (row: RequestRow, names: ColumnNames) => ReactNode
  /** The filter that a click on the cell sets. */
  readonly filter?: FilterName
}

const text = words.requests

export const columns: readonly Column[] = [
  { id: 'time', name: text.time, width: 132, priority: 1, cell: (row) => time(row.created_at_ms) },
  {
    id: 'decision',
    name: text.decision,
    width: 116,
    priority: 1,
    filter: 'decision',
    cell: (row) => (
      <DecisionBadge decision={row.decision} isEnforced={row.is_enforced} isError={row.status === 'error'} />
    ),
  },
  { id: 'reason', name: text.reason, priority: 1, filter: 'reason_code', cell: reasonOf },
  { id: 'model', name: text.model, priority: 2, filter: 'model', cell: (row) => row.model },
  {
    id: 'project',
    name: text.project,
    priority: 2,
    filter: 'project_id',
    cell: (row, { projects }) => projects.get(row.project_id ?? '') ?? row.project_id ?? words.common.none,
  },
  {
    id: 'key',
    name: text.key,
    priority: 3,
    filter: 'api_key_id',
    cell: (row, { keys }) =>
      isFromPlayground(row) ? text.playground : (keys.get(row.api_key_id ?? '') ?? row.api_key_id ?? words.common.none),
  },
  {
    id: 'user',
    name: text.user,
    width: 84,
    priority: 3,
    filter: 'user_id',
    cell: (row) => row.user_id ?? words.common.none,
  },
  {
    id: 'tokens',
    name: text.tokens,
    width: 80,
    isNumber: true,
    priority: 3,
    cell: (row) => (row.input_tokens === null ? words.common.none : count(row.input_tokens + (row.output_tokens ?? 0))),
  },
  {
    id: 'cost',
    name: text.cost,
    width: 92,
    isNumber: true,
    priority: 2,
    cell: (row) => dollars(row.cost_usd),
  },
  {
    id: 'latency',
    name: text.latency,
    width: 76,
    isNumber: true,
    priority: 1,
    cell: (row) => milliseconds(row.latency_ms),
  },
]

/** Why a request was decided as it was: the error, the policy's name, the categories, or the reason's code. */
function reasonOf(row: RequestRow): ReactNode {
  if (row.status === 'error' && row.error !== null) return <code>{row.error}</code>
  if (row.policy_name !== null) return row.policy_name
  if (row.categories.length > 0) return row.categories.join(', ')
  if (row.check === 'gateway') return words.request.checks.gateway
  if (row.reason_code !== null) return <code>{row.reason_code}</code>
  return <span className="none">{words.common.none}</span>
}

/** The columns that the address names, or all of them. */
export function chosenColumns(chosen: string | undefined): readonly Column[] {
  if (chosen === undefined) return columns
  const ids = new Set(chosen.split(','))
  return columns.filter(({ id }) => id === 'time' || ids.has(id))
}
