import { toUnixSeconds, type Clock } from '../../../../base/clock.ts'
import type { RollupDimension } from '../../../../domain/rollup/kinds.ts'
import type { DimensionFilter, RollupGroup } from '../../../../domain/rollup/report.ts'
import {
  trafficFields,
  type TrafficFilter,
  type TrafficGroup,
  type TrafficStore,
  type TrafficSum,
} from '../../../../domain/traffic/traffic.ts'
import type { Database, Transaction } from '../database.ts'
import { readRollup } from './read.ts'

const dimensionOf: Readonly<Record<TrafficGroup, RollupDimension>> = {
  decision: 'decision',
  status: 'status',
  model: 'model',
  project: 'projectId',
  upstream: 'upstream',
  key: 'keyId',
}

/** The sums of requests, in SQL. */
export const trafficStore = (database: Pick<Database, 'report'>, clock: Clock): TrafficStore => ({
  async sums({ step: bucket, groupBy, filter = {}, ...rest }) {
    const kind = groupBy === 'key' ? 'key' : 'traffic'
    const groups = groupBy === undefined ? [] : [dimensionOf[groupBy]]
    const wanted = { ...rest, kind, bucket, groupBy: groups, only: dimensionFilters(filter) } as const
    const query: Transaction['query'] = (sql, params) => database.report(sql, params)
    return (await readRollup(query, wanted, toUnixSeconds(clock.nowMs()))).map(trafficSumOf)
  },
})

const dimensionFilters = ({ is = {}, isNot = {} }: TrafficFilter): DimensionFilter[] =>
  [is, isNot].flatMap((values) =>
    trafficFields.flatMap((dimension) => {
      const wanted = values[dimension] ?? []
      return wanted.length === 0 ? [] : [{ dimension, values: wanted, isNegated: values === isNot }]
    }),
  )

/** The sums are in the order of the kind. */
function trafficSumOf({ startTime, group: [group], sums }: RollupGroup): TrafficSum {
  const [requests = 0, denied = 0, errors = 0, inputTokens = 0, outputTokens = 0, costMicroUsd = 0, ...latency] = sums
  const counts = { requests, denied, errors, inputTokens, outputTokens, costMicroUsd, latency }
  return { startTime, group: group === undefined ? undefined : String(group), ...counts }
}
