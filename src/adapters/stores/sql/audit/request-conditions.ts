import type { RequestField, RequestFilter, RequestSearch, RequestValues } from '../../../../domain/audit/log.ts'
import type { Condition } from '../page.ts'
import { otherConditions, type EventTable } from './conditions.ts'
import { plainRequest } from './rows.ts'

const columns: Readonly<Record<RequestField, string>> = {
  decision: 'e.decision',
  status: 'e.status',
  model: 'e.model',
  projectId: 'e.project_id',
  policyId: 'e.policy_id',
  actorId: 'e.actor_id',
  userId: 'e.user_id',
  reasonCode: 'e.reason_code',
  errorCode: 'e.error_code',
  category: 'e.categories',
}

/** Written out, because an engine uses a partial index only if the query repeats its condition. */
const isRequest: Condition = [`e.code = '${plainRequest}'`]

/** The conditions of a period, without those of the fields. */
export const periodConditions = ({ fromMs, toMs }: RequestFilter, table: EventTable): Condition[] => [
  isRequest,
  [otherConditions({ ...(fromMs !== undefined && { fromMs }), ...(toMs !== undefined && { toMs }) }, table)],
]

/** All conditions of `audit_event e`. */
export function requestConditions(filter: RequestFilter, table: EventTable): Condition[] {
  const { is = {}, isNot = {}, search, minMs, minCostMicroUsd } = filter
  const [decision, ...others] = is.decision ?? []
  const isIndexedDecision = decision !== undefined && others.length === 0 && decision !== 'allow'
  return [
    ...periodConditions(filter, table),
    ...(isIndexedDecision ? [["e.decision <> 'allow'"] as const] : []),
    ...fieldsOf(is).map(([field, values]) => conditionOf(field, values, false)),
    ...fieldsOf(isNot).map(([field, values]) => conditionOf(field, values, true)),
    ...(search === undefined ? [] : [searchCondition(search)]),
    ...(minMs === undefined ? [] : [['e.latency_ms >= ?', minMs] as const]),
    ...(minCostMicroUsd === undefined ? [] : [['e.cost_micro_usd >= ?', minCostMicroUsd] as const]),
  ]
}

const fieldsOf = (values: RequestValues) =>
  (Object.keys(columns) as RequestField[]).flatMap((field) => {
    const wanted = values[field] ?? []
    return wanted.length === 0 ? [] : [[field, wanted] as const]
  })

function conditionOf(field: RequestField, values: readonly string[], isNegated: boolean): Condition {
  const [single, ...others] = values
  if (field === 'category') return anyOf(values.map(hasCategory), isNegated)
  if (field === 'model' && values.some(isPrefix)) return anyOf(values.map(modelCondition), isNegated)
  if (single !== undefined && others.length === 0 && !isNegated) return [`${columns[field]} = ?`, single]
  return [`${known(columns[field])} ${isNegated ? 'not in' : 'in'} (${places(values)})`, ...values]
}

/** An expression that no index has. SQLite would use an index for several values and sort all of their rows for one page. */
const known = (column: string): string => `coalesce(${column}, '')`

const places = (values: readonly unknown[]): string => values.map(() => '?').join(', ')

function anyOf(conditions: readonly Condition[], isNegated: boolean): Condition {
  const sql = conditions.map(([each]) => each).join(' or ')
  return [`${isNegated ? 'not ' : ''}(${sql})`, ...conditions.flatMap(([, ...values]) => values)]
}

const hasCategory = (category: string): Condition => [
  `${known(columns.category)} like ? escape '\\'`,
  `% ${escapeLike(category)} %`,
]

const isPrefix = (model: string): boolean => model.endsWith('*')

/** Not by `like`, which ignores case on SQLite only. */
function modelCondition(model: string): Condition {
  if (!isPrefix(model)) return [`${known(columns.model)} = ?`, model]
  const start = model.slice(0, -1)
  return [`substr(${known(columns.model)}, 1, ${[...start].length}) = ?`, start]
}

const searchedColumns = ['model', 'user_id', 'reason_code', 'error_code', 'request_id', 'id']

/** Both sides are folded by the engine, so that a text matches itself on each. */
function searchCondition({ text, projectIds, policyIds, actorIds }: RequestSearch): Condition {
  const pattern = `%${escapeLike(text)}%`
  const named = [
    [columns.projectId, projectIds],
    [columns.policyId, policyIds],
    [columns.actorId, actorIds],
  ] as const
  return anyOf(
    [
      ...searchedColumns.map((column): Condition => [`lower(e.${column}) like lower(?) escape '\\'`, pattern]),
      ...named.flatMap(([column, ids]): Condition[] =>
        ids.length === 0 ? [] : [[`${known(column)} in (${places(ids)})`, ...ids]],
      ),
    ],
    false,
  )
}

/** `%` and `_` stand for themselves. */
const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

const indexedFields = ['projectId', 'policyId', 'actorId', 'userId', 'decision'] as const

/** Whether an index finds the requests, or there is nothing to find but the newest. Other filters read one event after the other. */
export function isIndexed({ is = {}, isNot = {}, search, minMs, minCostMicroUsd }: RequestFilter): boolean {
  if (indexedFields.some((field) => is[field]?.length === 1 && is[field][0] !== 'allow')) return true
  const hasFields = fieldsOf(is).length > 0 || fieldsOf(isNot).length > 0
  return !hasFields && search === undefined && minMs === undefined && minCostMicroUsd === undefined
}
