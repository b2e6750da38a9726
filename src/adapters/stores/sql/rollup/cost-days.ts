import { toUnixSeconds, type Clock } from '../../../../base/clock.ts'
import type { CostDays } from '../../../../domain/costs/cost-days.ts'
import type { DayCost } from '../../../../domain/costs/focus.ts'
import { day as daySeconds, type RollupDimension } from '../../../../domain/rollup/kinds.ts'
import type { RollupGroup, RollupQuery } from '../../../../domain/rollup/report.ts'
import type { Transaction } from '../database.ts'
import { readRollup } from './read.ts'

type Query = Transaction['query']

const dimensions = ['projectId', 'keyId', 'model'] as const satisfies RollupDimension[]

const costsOf = (organizationId: string, period: { readonly from: number; readonly to: number }) =>
  ({ organizationId, kind: 'cost', bucket: daySeconds, ...period }) as const satisfies Partial<RollupQuery>

/** The sums of each day. */
export const dayTotals =
  (query: Query, clock: Pick<Clock, 'nowMs'>): CostDays['totals'] =>
  async (organizationId, days) => {
    const wanted = { ...costsOf(organizationId, days), groupBy: [] }
    const groups = await readRollup(query, wanted, toUnixSeconds(clock.nowMs()))
    return new Map(groups.map((group) => [group.startTime, totalsOf(group)]))
  }

export type DayCostsQuery = {
  readonly organizationId: string
  /** Its start in UTC, Unix seconds. */
  readonly day: number
  readonly hasTags: boolean
  readonly maxRows: number
  readonly nowMs: number
}

/** The sums of a day by project, key, model and set of tags. Undefined if there are more than `maxRows`. */
export async function dayCosts(query: Query, wanted: DayCostsQuery): Promise<DayCost[] | undefined> {
  const { organizationId, day, hasTags, maxRows, nowMs } = wanted
  const groupBy: readonly RollupDimension[] = hasTags ? [...dimensions, 'tags'] : dimensions
  const period = { from: day, to: day + daySeconds }
  const limited = { ...costsOf(organizationId, period), groupBy, limit: maxRows + 1 }
  const groups = await readRollup(query, limited, toUnixSeconds(nowMs))
  return groups.length > maxRows ? undefined : groups.map(dayCostOf)
}

function dayCostOf(group: RollupGroup): DayCost {
  const [projectId = '', keyId = '', model = '', tags = ''] = group.group.map(String)
  return { projectId, keyId, model, tags, ...totalsOf(group) }
}

function totalsOf({ sums }: RollupGroup) {
  const [requests = 0, inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0, outputTokens = 0, costMicro = 0] =
    sums
  return { requests, inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, costMicro }
}
