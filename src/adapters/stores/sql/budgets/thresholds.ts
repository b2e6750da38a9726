import type { ThresholdStore } from '../../../../domain/budgets/thresholds.ts'
import type { Transaction } from '../database.ts'

/** What was reported of budgets, in SQL. */
export function thresholdStore(tx: Transaction): ThresholdStore {
  return {
    async lock(organizationId) {
      await tx.run('update organization set version = version where id = $1', [organizationId])
    },
    async mark({ organizationId, budgetId, member, periodStartMs, percent }, atMs) {
      // Nothing is reported of a budget that was deleted meanwhile.
      const sql = `insert into budget_threshold (organization_id, budget_id, member, period_start, percent, reached_at)
        select organization_id, id, cast($3 as text), cast($4 as bigint), cast($5 as bigint), cast($6 as bigint)
        from budget where organization_id = $1 and id = $2
        on conflict do nothing`
      return (await tx.run(sql, [organizationId, budgetId, member ?? '', periodStartMs, percent, atMs])) === 1
    },
    async forgetBefore({ organizationId, budgetId, periodStartMs }) {
      const sql = 'delete from budget_threshold where organization_id = $1 and budget_id = $2 and period_start < $3'
      await tx.run(sql, [organizationId, budgetId, periodStartMs])
    },
    async ofPeriod({ organizationId, budgetId, periodStartMs }) {
      const sql = `select member, percent from budget_threshold
        where organization_id = $1 and budget_id = $2 and period_start = $3`
      const rows = await tx.query<{ member: string; percent: number }>(sql, [organizationId, budgetId, periodStartMs])
      return rows.map(({ member, percent }) => ({
        organizationId,
        budgetId,
        periodStartMs,
        member: member === '' ? null : member,
        percent,
      }))
    },
  }
}
