import { toUnixSeconds, type Clock } from '../../base/clock.ts'
import type { AuditReads, RequestCount, RequestFilter } from '../audit/log.ts'
import { day, hour, minute, startOf } from '../rollup/kinds.ts'
import { readFrom } from '../rollup/retention.ts'
import { trafficFields, type TrafficStore } from '../traffic/traffic.ts'

type CountParts = {
  readonly events: Pick<AuditReads, 'firstRequest' | 'countRequests'>
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
    const first = await events.firstRequest(organizationId, {
      ...(fromMs !== undefined && { fromMs }),
      ...(toMs !== undefined && { toMs }),
    })
    if (first === undefined) return undefined
    const startMs = first.timeMs + (first.isTrimmed ? longestRequestMs : 0)
    return wholeSteps({ startMs, toMs }, toUnixSeconds(clock.nowMs()))
  }
}

/** Events are removed in the order in which they were written, and a request that took longer was received before its neighbours. */
const longestRequestMs = 10 * 60 * 1000
/** The sums are read some time later. */
const readingSeconds = 60
/** As long as the sums keep them. */
const longestModelName = 200

type Steps = { readonly from: number; readonly to: number }

type Period = { readonly startMs: number; readonly toMs: number | undefined }

/** Whether the sums have every field of the filter. They have whole names of models only, and cut long ones. */
function isSummed({ is = {}, isNot = {}, search, minMs, minCostMicroUsd }: RequestFilter): boolean {
  if (search !== undefined || minMs !== undefined || minCostMicroUsd !== undefined) return false
  const isKnown = (field: string): boolean => trafficFields.some((known) => known === field)
  const models = [...(is.model ?? []), ...(isNot.model ?? [])]
  const isWhole = (model: string): boolean => !model.endsWith('*') && model.length < longestModelName
  return [...Object.keys(is), ...Object.keys(isNot)].every(isKnown) && models.every(isWhole)
}

/** The longest part of the period that consists of steps whose sums are stored, in seconds. */
function wholeSteps({ startMs, toMs }: Period, now: number): Steps | undefined {
  const readAt = now + readingSeconds
  const start = Math.max(startMs / 1000, readFrom(day, readAt))
  const end = toMs === undefined ? now : Math.min(now, toMs / 1000)
  const stepAt = (seconds: number): number => [minute, hour].find((step) => seconds >= readFrom(step, readAt)) ?? day
  const from = Math.ceil(start / stepAt(start)) * stepAt(start)
  const to = startOf(end, stepAt(end))
  return from < to ? { from, to } : undefined
}
