import { hourMs } from '../../base/clock.ts'
import type { CostDimension, CostFilter, CostStore, CostSum } from '../costs/costs.ts'
import type { Budget, BudgetMatch, BudgetPer, BudgetUnit } from './budget.ts'

/** What a member has spent, in the unit of the amount. The member is null if all requests share it. */
export type MemberSpent = { readonly member: string | null; readonly spent: number }

/** What a member spent in an hour. */
export type HourSpent = MemberSpent & { readonly startMs: number; readonly requests: number }

type SpentPeriod = { readonly startMs: number; readonly nowMs: number }

/** Reads what each member of a budget has spent since the begin of a period. Members without requests are left out. */
export type ReadSpent = (budget: Budget, period: SpentPeriod) => Promise<readonly MemberSpent[]>
export type ReadHours = (budget: Budget, period: SpentPeriod) => Promise<readonly HourSpent[]>

export type SpentReads = { readonly ofPeriod: ReadSpent; readonly byHour: ReadHours }

type SpentParts = {
  readonly costs: CostStore
  /** The price of a credit. */
  readonly creditUsd: number
}

const hourSeconds = hourMs / 1000

export function createSpentReads({ costs, creditUsd }: SpentParts): SpentReads {
  const read = async (
    budget: Budget,
    { startMs, nowMs }: SpentPeriod,
    step?: number,
  ): Promise<readonly HourSpent[]> => {
    const { organizationId, match, per, unit } = budget
    const sums = await costs.sums({
      organizationId,
      from: startMs / 1000,
      // The current hour belongs to the period.
      to: Math.floor(nowMs / hourMs + 1) * hourSeconds,
      groupBy: dimensionsOf(per),
      filter: filterOf(match),
      ...(step !== undefined && { step }),
    })
    return sums.flatMap((sum): HourSpent[] => {
      const [member = ''] = sum.group
      if (per !== 'all' && member === '') return []
      const spent = spentIn(sum, unit, creditUsd)
      const startOfHour = (sum.startTime ?? startMs / 1000) * 1000
      return [{ member: per === 'all' ? null : member, startMs: startOfHour, spent, requests: sum.requests }]
    })
  }
  return {
    ofPeriod: async (budget, period) => (await read(budget, period)).map(({ member, spent }) => ({ member, spent })),
    byHour: (budget, period) => read(budget, period, hourSeconds),
  }
}

export const dimensionsOf = (per: BudgetPer): readonly CostDimension[] => (per === 'all' ? [] : [per])

const filterOf = ({ projectIds, keyIds, models, users, tags }: BudgetMatch): CostFilter => ({
  projectIds,
  keyIds,
  models,
  users,
  tags,
})

/** Costs are in micro-credits; the amount is in micro-dollars. */
function spentIn(sum: CostSum, unit: BudgetUnit, creditUsd: number): number {
  switch (unit) {
    case 'usd':
      return Math.round(sum.costMicro * creditUsd)
    case 'tokens':
      return sum.inputTokens + sum.cacheReadTokens + sum.cacheWriteTokens + sum.outputTokens
    case 'requests':
      return sum.requests
  }
}
