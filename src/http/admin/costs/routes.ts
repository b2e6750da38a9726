import type { Static } from 'typebox'
import type { Clock } from '../../../base/clock.ts'
import type { CostDimension, CostFilter, CostQuery } from '../../../domain/costs/costs.ts'
import type { NamedKind } from '../../../domain/costs/names.ts'
import { holds, type Permission } from '../../../domain/identity/permissions.ts'
import { EncodedBody } from '../../encoded-body.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { none } from '../../resources/fields.ts'
import type { Route } from '../../route.ts'
import { invalidField } from '../../validate.ts'
import type { AdminReads } from '../routes.ts'
import type { CostsInput } from './encode.ts'
import { CostsObject, CostsQuery } from './schema.ts'

export type CostRouteParts = {
  readonly clock: Clock
  readonly creditUsd: number
  /** Names of tags that can be grouped and filtered by. */
  readonly tagNames: readonly string[]
  /** Runs `encodeCosts` in a thread of its own, because thousands of rows would delay requests. */
  readonly encode: (input: CostsInput) => Promise<readonly string[]>
}

const daySeconds = 86_400
const defaultDays = 30
const mostDays = 366
const mostDimensions = 3
/** Rows that are read before they are grouped by tags. */
const maxRows = 100_000

const nameRights: Readonly<Record<NamedKind, Permission>> = { project: 'projects:read', key: 'keys:read' }

/** `/v1/organization/costs`: who spends what. */
export function costRoutes(admin: AdminReads<object>, parts: CostRouteParts): Route[] {
  const { clock, creditUsd, tagNames, encode } = parts
  return [
    admin.read({
      name: 'getCosts',
      path: '/v1/organization/costs',
      summary: 'Read costs',
      description:
        'What requests cost at the prices of their models, also where the organization pays no credits, by project, key, model, end user, tag and day. At most 366 days. A request counts once its charge is written. A period that starts or ends inside of an hour has the whole hour; the whole day if it is more than 92 days ago. As JSON or as CSV.',
      permission: 'usage:read',
      isReport: true,
      params: none,
      query: CostsQuery,
      answer: { description: 'Costs by group.', schema: CostsObject },
      async operation(_reads, { actor, query, accept }) {
        const nowMs = clock.nowMs()
        const { groupBy, isByDay } = dimensionsOf(query.group_by, tagNames)
        const { from, to } = periodOf(query, Math.ceil(nowMs / 1000))
        const costs: CostQuery = {
          organizationId: actor.organization.id,
          from,
          to,
          groupBy,
          filter: filterOf(query, tagNames),
          maxRows,
          ...(isByDay && { step: daySeconds }),
        }
        const format = query.format ?? (accept?.includes('text/csv') === true ? 'csv' : 'json')
        const named = (['project', 'key'] as const).filter((kind) => holds(actor.permissions, nameRights[kind]))
        const chunks = await encode({ query: costs, limit: query.limit, format, creditUsd, nowMs, named })
        return new EncodedBody(chunks, format === 'csv' ? { fileName: 'costs' } : undefined)
      },
    }),
  ]
}

type Query = Static<typeof CostsQuery>

function periodOf({ from: start, to: end }: Query, now: number): Pick<CostQuery, 'from' | 'to'> {
  const to = end ?? now
  const from = start ?? Math.max(0, to - defaultDays * daySeconds)
  if (from >= to) throw invalidField(['from'], 'must be before to')
  if (to - from > mostDays * daySeconds) throw invalidField(['from'], `must be at most ${mostDays} days before to`)
  return { from, to }
}

const plainDimensions: readonly CostDimension[] = ['project', 'key', 'model', 'user']

function dimensionsOf(given: readonly string[], tagNames: readonly string[]) {
  const names = [...new Set(given.flatMap((list) => list.split(',')).map((name) => name.trim()))]
  if (names.length > mostDimensions) throw invalidField(['group_by'], `must have at most ${mostDimensions} dimensions`)
  const known = [...plainDimensions, ...tagNames.map((name) => `tag:${name}` as const)]
  const groupBy = names
    .filter((name) => name !== 'day')
    .map((name): CostDimension => {
      const dimension = known.find((one) => one === name)
      if (dimension !== undefined) return dimension
      if (name.startsWith('tag:')) throw unknownTag('group_by', name.slice('tag:'.length), tagNames)
      throw invalidField(
        ['group_by'],
        `must be of project, key, model, user, day and tag:NAME, and ${name} is none of them`,
      )
    })
  return { groupBy, isByDay: names.includes('day') }
}

function unknownTag(field: string, name: string, tagNames: readonly string[]) {
  const known = tagNames.length === 0 ? 'which has none' : `which has ${tagNames.join(', ')}`
  return invalidField([field], `names the tag ${name}, and it is not in the setting budgets.tags, ${known}`)
}

function filterOf(query: Query, tagNames: readonly string[]): CostFilter {
  const tags: Record<string, string[]> = {}
  for (const pair of query.tag ?? []) {
    const at = pair.indexOf('=')
    if (at < 1) throw invalidField(['tag'], 'must be a name and a value, such as team=red')
    const name = pair.slice(0, at)
    if (!tagNames.includes(name)) throw unknownTag('tag', name, tagNames)
    ;(tags[name] ??= []).push(pair.slice(at + 1))
  }
  const { project_id: projectIds, api_key_id: keyIds, model: models, user_id: users } = query
  return { ...omitUndefined({ projectIds, keyIds, models, users }), tags }
}
