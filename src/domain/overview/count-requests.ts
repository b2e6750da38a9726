import { toUnixSeconds, type Clock } from '../../base/clock.ts'
import type { AuditReads, RequestCount, RequestFilter } from '../audit/log.ts'
import { day, hour, minute, startOf } from '../rollup/kinds.ts'
import { readFrom } from '../rollup/retention.ts'
import { trafficFields, type TrafficStore } from '../traffic/traffic.ts'

type CountParts = {
  readonly events: Pick<AuditReads, 'listRequests' | 'countRequests'>
  readonly traffic: TrafficStore
  readonly clock: Clock
  /** Most requests that are counted one by one. */
  readonly most?: number
}

/**
 * How many requests match a filter. Where the sums have the fields of the filter, whole steps are read from them, and the requests
 * before and after these steps are counted. Other filters are counted in the audit log, up to a number.
 */
export async function countRequests(
  { events, traffic, clock, most = 10_000 }: CountParts,
  organizationId: string,
  filter: RequestFilter,
): Promise<RequestCount> {
  const counted = (period: Pick<RequestFilter, 'fromMs' | 'toMs'>) =>
    events.countRequests(organizationId, { ...filter, ...period }, most)
  const steps = isSummed(filter) ? await summedSteps() : undefined
  if (steps === undefined) return counted({})
  const { from, to } = steps
  const { is = {}, isNot = {} } = filter
  const [sums, before, after] = await Promise.all([
    traffic.sums({ organizationId, from, to, step: day, groupBy: undefined, filter: { is, isNot } }),
    counted({ toMs: from * 1000 }),
    counted({ fromMs: to * 1000 }),
  ])
  const count = sums.reduce((sum, { requests }) => sum + requests, before.count + after.count)
  return { count, isExact: before.isExact && after.isExact }

  async function summedSteps(): Promise<Steps | undefined> {
    const { fromMs, toMs } = filter
    // Sums are kept longer than events.
    const { items } = await events.listRequests(organizationId, bounds({ fromMs, toMs }), { limit: 1, order: 'asc' })
    return wholeSteps({ fromMs: items[0]?.document.time, toMs }, toUnixSeconds(clock.nowMs()))
  }
}

type Steps = { readonly from: number; readonly to: number }

const bounds = ({ fromMs, toMs }: Period): RequestFilter => ({
  ...(fromMs !== undefined && { fromMs }),
  ...(toMs !== undefined && { toMs }),
})

type Period = { readonly fromMs: number | undefined; readonly toMs: number | undefined }

/** Whether the sums have every field of the filter. They have whole names of models only. */
function isSummed({ is = {}, isNot = {}, search, minMs, minCostMicroUsd }: RequestFilter): boolean {
  if (search !== undefined || minMs !== undefined || minCostMicroUsd !== undefined) return false
  const isKnown = (field: string): boolean => trafficFields.some((known) => known === field)
  const models = [...(is.model ?? []), ...(isNot.model ?? [])]
  return [...Object.keys(is), ...Object.keys(isNot)].every(isKnown) && !models.some((model) => model.endsWith('*'))
}

/** The longest part of the period that consists of steps whose sums are stored, in seconds. */
function wholeSteps({ fromMs, toMs }: Period, now: number): Steps | undefined {
  if (fromMs === undefined) return undefined
  const start = fromMs / 1000
  const end = toMs === undefined ? now : Math.min(now, toMs / 1000)
  const stepAt = (seconds: number): number => [minute, hour].find((step) => seconds >= readFrom(step, now)) ?? day
  const from = Math.ceil(start / stepAt(start)) * stepAt(start)
  const to = startOf(end, stepAt(end))
  return from < to ? { from, to } : undefined
}
