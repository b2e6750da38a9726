import { toUnixSeconds, type Clock } from '../../base/clock.ts'
import type { CostFilter, CostStore, CostSum } from '../costs/costs.ts'
import type { Budget } from './budget.ts'
import type { AppliedBudget, BudgetSpend } from './counters.ts'
import { dimensionsOf } from './spent.ts'

export type CounterSpend = { readonly applied: AppliedBudget; readonly spend: BudgetSpend }

/** Reads what was spent of each of these counters, as the ledger says. They are of one budget and period. */
export type ReadCounterSpend = (counters: readonly AppliedBudget[]) => Promise<readonly CounterSpend[]>

export const createReadCounterSpend =
  (costs: CostStore, clock: Pick<Clock, 'nowMs'>): ReadCounterSpend =>
  async (counters) => {
    const [first] = counters
    if (first === undefined) return []
    const { budget, period } = first
    const members = counters.flatMap(({ member }) => member ?? [])
    const sums = await costs.sums({
      organizationId: budget.organizationId,
      from: toUnixSeconds(period.startMs),
      to: period.endMs === null ? toUnixSeconds(clock.nowMs()) + 1 : toUnixSeconds(period.endMs),
      groupBy: dimensionsOf(budget.per),
      filter: filterOf(budget, members),
    })
    const spent = new Map(sums.map((sum) => [sum.group[0] ?? null, spendOf(sum)]))
    return counters.map((applied) => ({ applied, spend: spent.get(applied.member) ?? nothing }))
  }

const nothing: BudgetSpend = { micro: 0, tokens: 0, requests: 0 }

const spendOf = ({ costMicro, requests, ...tokens }: CostSum): BudgetSpend => ({
  micro: costMicro,
  tokens: tokens.inputTokens + tokens.cacheReadTokens + tokens.cacheWriteTokens + tokens.outputTokens,
  requests,
})

/** The requests of some members. */
function filterOf({ match, per }: Budget, members: readonly string[]): CostFilter {
  switch (per) {
    case 'all':
      return match
    case 'project':
      return { ...match, projectIds: members }
    case 'key':
      return { ...match, keyIds: members }
    case 'user':
      return { ...match, users: members }
    default:
      return { ...match, tags: { ...match.tags, [per.slice('tag:'.length)]: members } }
  }
}
