import { toUnixSeconds } from '../../../../base/clock.ts'
import type { UsageGroup, UsageQuery, UsageRow } from '../../../../domain/credits/reports.ts'
import type { DimensionValue } from '../../../../domain/rollup/entry.ts'
import { startOf, week, type RollupDimension } from '../../../../domain/rollup/kinds.ts'
import { mergeGroups, type RollupGroup, type RollupQuery } from '../../../../domain/rollup/report.ts'
import { readUsersFrom } from '../../../../domain/rollup/retention.ts'
import type { Transaction } from '../database.ts'
import { readRollup } from './read.ts'

const dimensionOf: Readonly<Record<UsageGroup, RollupDimension>> = {
  project: 'projectId',
  api_key: 'keyId',
  model: 'model',
  user: 'userId',
}

export type UsageRetention = {
  readonly nowSeconds: number
  /** How long the names of end users are kept. */
  readonly userDays: number
}

/** Usage by time and group. */
export async function readUsage(
  query: Transaction['query'],
  usage: UsageQuery,
  retention: UsageRetention,
): Promise<UsageRow[]> {
  const groupBy = [...new Set(usage.groupBy)].map((group) => dimensionOf[group])
  const period = {
    organizationId: usage.organizationId,
    from: toUnixSeconds(usage.fromMs),
    to: Math.ceil(usage.toMs / 1000),
    bucket: usage.bucketMs / 1000,
    ...(usage.limit !== undefined && { limit: usage.limit }),
  }
  const read = (
    wanted: Omit<RollupQuery, 'groupBy' | 'organizationId' | 'bucket' | 'limit'>,
  ): Promise<RollupGroup[]> => {
    const stored = wanted.kind === 'user' ? groupBy : groupBy.filter((dimension) => dimension !== 'userId')
    return readRollup(query, { ...period, ...wanted, groupBy: stored }, retention.nowSeconds)
  }
  if (!groupBy.includes('userId')) return (await read({ ...period, kind: 'usage' })).map(usageReader(groupBy))
  // Names of before are removed. The usage of that time has no user.
  const earliest = readUsersFrom(retention.nowSeconds, retention.userDays)
  const usersFrom = Math.min(period.to, Math.max(period.from, earliest))
  const nameless = (await read({ ...period, kind: 'usage', to: usersFrom })).map((group) => withoutUser(group, groupBy))
  const firstWeek = await firstWeekOfUsers(query, usage.organizationId)
  const named = await read({ ...period, kind: 'user', from: usersFrom, earliest, firstWeek })
  const merged = mergeGroups([...nameless, ...named], new Set([startOf(usersFrom, period.bucket)]))
  return merged.slice(0, usage.limit).map(usageReader(groupBy))
}

/** If names are kept longer than before, weeks stay removed that began before the earlier limit, and some of their days are kept. */
async function firstWeekOfUsers(query: Transaction['query'], organizationId: string): Promise<number> {
  const [row] = await query<{ first: number | null }>(
    `select min(start_time) as first from rollup
     where organization_id = $1 and kind = 'user' and step = ${week} and subject = ''`,
    [organizationId],
  )
  return row?.first ?? Number.MAX_SAFE_INTEGER
}

const withoutUser = ({ group, ...rest }: RollupGroup, groupBy: readonly RollupDimension[]): RollupGroup => ({
  ...rest,
  group: group.toSpliced(groupBy.indexOf('userId'), 0, ''),
})

function usageReader(groupBy: readonly RollupDimension[]): (group: RollupGroup) => UsageRow {
  const positionOf = (dimension: RollupDimension): number => groupBy.indexOf(dimension)
  const [project, key, model, user] = (['projectId', 'keyId', 'model', 'userId'] as const).map(positionOf)
  const valueOf = (values: readonly DimensionValue[], at = -1): string | null =>
    at === -1 ? null : String(values[at] ?? '')
  return ({ startTime, group, sums }) => {
    const [requests = 0, inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens = 0, micro = 0] = sums
    return {
      startMs: startTime * 1000,
      projectId: valueOf(group, project),
      keyId: valueOf(group, key),
      model: valueOf(group, model),
      userId: valueOf(group, user) || null,
      requests,
      inputTokens,
      cacheReadTokens,
      cacheWriteTokens,
      outputTokens,
      micro,
    }
  }
}
