import { Fault } from '../../base/fault.ts'

/** What traffic can be grouped by. */
export const trafficGroups = ['decision', 'status', 'model', 'project', 'upstream', 'key'] as const
export type TrafficGroup = (typeof trafficGroups)[number]

/** The upper bounds of latency in the sums, in milliseconds. One more bucket holds what took longer. */
export const latencyBounds = [25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000] as const

/** The fields that the sums can be filtered by. */
export const trafficFields = ['decision', 'status', 'model', 'projectId'] as const

export type TrafficValues = { readonly [Field in (typeof trafficFields)[number]]?: readonly string[] }

/** Each field of `is` has one of its values, no field of `isNot` has one of its values. */
export type TrafficFilter = { readonly is?: TrafficValues; readonly isNot?: TrafficValues }

export type TrafficQuery = {
  readonly organizationId: string
  /** Unix seconds, `to` exclusive. */
  readonly from: number
  readonly to: number
  /** Seconds. */
  readonly step: number
  readonly groupBy: TrafficGroup | undefined
  /** Not together with the group `key`, whose sums have no other dimension. */
  readonly filter?: TrafficFilter
  /** Most sums. */
  readonly limit?: number
}

/** The sums of the requests in one step and one group. */
export type TrafficSum = {
  readonly startTime: number
  /** The value that the requests share; undefined without a group. */
  readonly group: string | undefined
  readonly requests: number
  readonly denied: number
  readonly errors: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costMicroUsd: number
  /** Requests by latency, with one more item than `latencyBounds`. */
  readonly latency: readonly number[]
}

/** Reads the sums of the requests in the audit log. A request is in them once its event is written. */
export type TrafficStore = {
  sums(query: TrafficQuery): Promise<readonly TrafficSum[]>
}

/** Every user with a token counts as a key, so that a day of minutes could have millions of sums. No request is served while these are printed. */
const maxSums = 20_000

/** The sums of a query. Rejects one with more than a response can hold. */
export async function readTraffic(store: TrafficStore, query: TrafficQuery): Promise<readonly TrafficSum[]> {
  const sums = await store.sums({ ...query, limit: maxSums + 1 })
  if (sums.length <= maxSums) return sums
  const message = `step: the period has more than ${maxSums} sums. Request a longer step or a shorter period.`
  throw new Fault('validation', 'invalid_parameter', message, { param: 'step' })
}

/** The latency below which this share of the requests was, interpolated within its bucket; null without requests. */
export function percentile(latency: readonly number[], share: number): number | null {
  const total = latency.reduce((sum, each) => sum + each, 0)
  if (total === 0) return null
  let below = 0
  for (const [at, count] of latency.entries()) {
    const before = below
    below += count
    if (below < share * total || count === 0) continue
    const from = latencyBounds[at - 1] ?? 0
    const to = latencyBounds[at] ?? from
    return Math.round(from + ((share * total - before) / count) * (to - from))
  }
  return latencyBounds.at(-1) ?? null
}

/** The range of latency in which a percentile is; `toMs` is null if it is above the highest bound. */
export type PercentileRange = {
  readonly fromMs: number
  readonly toMs: number | null
  /** The percentile within the range; null if there are too few requests to tell. */
  readonly estimateMs: number | null
}

/** With fewer requests, a percentile is one of them, and where it is within its bucket is not known. */
const fewestForEstimate = 100

/** The bucket of a percentile, and an estimate within it where there are enough requests; null without requests. */
export function percentileRange(latency: readonly number[], share: number): PercentileRange | null {
  const total = latency.reduce((sum, each) => sum + each, 0)
  if (total === 0) return null
  let below = 0
  const at = latency.findIndex((count) => (below += count) >= share * total && count > 0)
  const toMs = latencyBounds[at] ?? null
  const isEstimated = toMs !== null && total >= fewestForEstimate
  return { fromMs: latencyBounds[at - 1] ?? 0, toMs, estimateMs: isEstimated ? percentile(latency, share) : null }
}
