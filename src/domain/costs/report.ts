import type { CostSum } from './costs.ts'

export type CostTotals = Omit<CostSum, 'startTime' | 'group'>

/** The groups that cost most, and the sums of all others. */
export type CostReport = {
  readonly rows: readonly CostSum[]
  /** Null if `rows` are all groups. */
  readonly other: CostTotals | null
  readonly total: CostTotals
}

/** Micro-dollars, rounded once. */
export const inMicroUsd = (costMicro: number, creditUsd: number): number => Math.round(costMicro * creditUsd)

export function reportCosts(sums: readonly CostSum[], limit: number): CostReport {
  const sorted = sums.toSorted(byCost)
  const rest = sorted.slice(limit)
  return { rows: sorted.slice(0, limit), other: rest.length === 0 ? null : totalOf(rest), total: totalOf(sums) }
}

/** The order of equal costs is that of the text, so that a report reads the same each time. */
function byCost(a: CostSum, b: CostSum): number {
  if (a.costMicro !== b.costMicro) return b.costMicro - a.costMicro
  return textOf(a) < textOf(b) ? -1 : 1
}

const textOf = ({ startTime, group }: CostSum): string => JSON.stringify([startTime, group])

const noCosts: CostTotals = {
  requests: 0,
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  costMicro: 0,
}

export const totalOf = (sums: readonly CostTotals[]): CostTotals =>
  sums.reduce(
    (total, each) => ({
      requests: total.requests + each.requests,
      inputTokens: total.inputTokens + each.inputTokens,
      cacheReadTokens: total.cacheReadTokens + each.cacheReadTokens,
      cacheWriteTokens: total.cacheWriteTokens + each.cacheWriteTokens,
      outputTokens: total.outputTokens + each.outputTokens,
      costMicro: total.costMicro + each.costMicro,
    }),
    noCosts,
  )
