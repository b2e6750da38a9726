import { createHash } from 'node:crypto'
import { dayMs, hourMs } from '../../base/clock.ts'
import { exactUsd } from './exact-usd.ts'
import type { CostTotals } from './report.ts'

/** Days whose files are kept up to date, because charges of a node may arrive weeks later. */
const keptDays = 35
/** A day is finished this long after its end, because most charges of its last minutes are written by then. */
const waitMs = hourMs

/** Unix seconds, `to` exclusive. */
type Days = { readonly from: number; readonly to: number }

/** The last finished days in UTC. */
export function finishedDays(nowMs: number): Days {
  const toMs = Math.floor((nowMs - waitMs) / dayMs) * dayMs
  return { from: (toMs - keptDays * dayMs) / 1000, to: toMs / 1000 }
}

/** The file of one day, compressed. */
export type CostFile = {
  readonly body: Uint8Array
  readonly rowCount: number
  readonly totals: CostTotals
  /** False if the day has too many rows with tags. */
  readonly hasTags: boolean
}

/** Reads costs by day. Both may take seconds, and delay no request. */
export type CostDays = {
  /** The sums of each day that has costs, by its start, in the order of time. */
  totals(organizationId: string, days: Days): Promise<ReadonlyMap<number, CostTotals>>
  file(organizationId: string, day: number): Promise<CostFile>
}

/** Differs if a charge was added, and if the price of a credit was changed. */
export function digestOfCosts(totals: CostTotals, creditUsd: number): string {
  const { requests, inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, costMicro } = totals
  const counts = [requests, inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens]
  const text = JSON.stringify([...counts, exactUsd(costMicro, creditUsd)])
  return createHash('sha256').update(text).digest('hex')
}
