import type { Clock } from '../../base/clock.ts'
import type { AuditReads } from '../audit/log.ts'
import type { TrafficStore } from '../traffic/traffic.ts'
import { readTrafficNow, type TrafficNow } from './overview.ts'

export type LiveFigureParts = {
  readonly events: Pick<AuditReads, 'newRequests'>
  readonly traffic: TrafficStore
  readonly clock: Clock
}

/** The rate is that of this time, so that it follows a change within seconds and does not jump. */
const rateMs = 10_000
/** Shares and latency come from the sums, which are read this often. */
const sumsMs = 5_000

type Read = { readonly atMs: number; readonly requests: number }

/** The figures of an organization for a reader who asks again and again. It counts from the first call. */
export function createLiveFigures({ events, traffic, clock }: LiveFigureParts, organizationId: string) {
  let sequence: number | undefined
  let summed: { readonly atMs: number; readonly figures: TrafficNow } | undefined
  let reads: Read[] = []

  const figuresOfSums = async (nowMs: number): Promise<TrafficNow> => {
    if (summed === undefined || nowMs - summed.atMs >= sumsMs)
      summed = { atMs: nowMs, figures: await readTrafficNow(traffic, organizationId, clock.nowMs()) }
    return summed.figures
  }

  return async (): Promise<TrafficNow> => {
    const nowMs = clock.monotonicMs()
    const figures = await figuresOfSums(nowMs)
    const fresh = await events.newRequests(organizationId, { filter: {}, after: sequence, limit: 0 })
    const isFirst = sequence === undefined
    sequence = Math.max(sequence ?? 0, fresh.sequence)
    reads = [...reads.filter(({ atMs }) => nowMs - atMs <= rateMs), { atMs: nowMs, requests: fresh.count }]
    return isFirst ? figures : { ...figures, requestsPerSecond: rateOf(reads, nowMs) }
  }
}

/** The first read says only when counting began. */
function rateOf([first, ...rest]: readonly Read[], nowMs: number): number {
  if (first === undefined || nowMs === first.atMs) return 0
  return rest.reduce((sum, { requests }) => sum + requests, 0) / ((nowMs - first.atMs) / 1_000)
}
