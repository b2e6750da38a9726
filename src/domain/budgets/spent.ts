import { hourMs } from '../../base/clock.ts'
import type { CostDimension, CostFilter, CostStore, CostSum } from '../costs/costs.ts'
import type { Budget, BudgetMatch, BudgetPer, BudgetUnit } from './budget.ts'

/** What a member has spent, in the unit of the amount. The member is null if all requests share it. */
export type MemberSpent = { readonly member: string | null; readonly spent: number }

/** Reads what each member of a budget has spent since the begin of a period. Members without requests are left out. */
export type ReadSpent = (budget: Budget, period: SpentPeriod) => Promise<readonly MemberSpent[]>

type SpentPeriod = { readonly startMs: number; readonly nowMs: number }

type SpentParts = {
  readonly costs: CostStore
  /** The price of a credit. */
  readonly creditUsd: number
}

export function createReadSpent({ costs, creditUsd }: SpentParts): ReadSpent {
  return async ({ organizationId, match, per, unit }, { startMs, nowMs }) => {
    const sums = await costs.sums({
      organizationId,
      from: startMs / 1000,
      // The current hour belongs to the period.
      to: Math.floor(nowMs / hourMs + 1) * (hourMs / 1000),
      groupBy: dimensionsOf(per),
      filter: filterOf(match),
    })
    return sums.flatMap((sum): MemberSpent[] => {
      const spent = spentIn(sum, unit, creditUsd)
      if (per === 'all') return [{ member: null, spent }]
      const [member = ''] = sum.group
      return member === '' ? [] : [{ member, spent }]
    })
  }
}

const dimensionsOf = (per: BudgetPer): readonly CostDimension[] => (per === 'all' ? [] : [per])

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
