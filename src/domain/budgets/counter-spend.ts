import { toUnixSeconds, type Clock } from '../../base/clock.ts'
import type { CostFilter, CostStore } from '../costs/costs.ts'
import type { Budget } from './budget.ts'
import type { AppliedBudget, BudgetSpend } from './counters.ts'

/** Reads what was spent of a budget, as the ledger says. */
export const createSpentOf =
  (costs: CostStore, clock: Pick<Clock, 'nowMs'>) =>
  async ({ budget, member, period }: AppliedBudget): Promise<BudgetSpend> => {
    const sums = await costs.sums({
      organizationId: budget.organizationId,
      from: toUnixSeconds(period.startMs),
      to: period.endMs === null ? toUnixSeconds(clock.nowMs()) + 1 : toUnixSeconds(period.endMs),
      groupBy: [],
      filter: filterOf(budget, member),
    })
    const spent = { micro: 0, tokens: 0, requests: 0 }
    for (const { costMicro, inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, requests } of sums) {
      spent.micro += costMicro
      spent.tokens += inputTokens + cacheReadTokens + cacheWriteTokens + outputTokens
      spent.requests += requests
    }
    return spent
  }

/** The requests of one member. */
function filterOf({ match, per }: Budget, member: string | null): CostFilter {
  if (member === null || per === 'all') return match
  if (per === 'project') return { ...match, projectIds: [member] }
  if (per === 'key') return { ...match, keyIds: [member] }
  if (per === 'user') return { ...match, users: [member] }
  return { ...match, tags: { ...match.tags, [per.slice('tag:'.length)]: [member] } }
}
