import type { Clock } from '../../base/clock.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import type { Budget } from '../../domain/budgets/budget.ts'
import { appliedBudgets, demandOf, useOf, type AppliedBudget, type BudgetSpend } from '../../domain/budgets/counters.ts'
import type { Spender } from '../../domain/budgets/match.ts'
import type { PeriodRange } from '../../domain/budgets/period.ts'
import type { BudgetDemand, BudgetUse } from '../../domain/limits/budget-counters.ts'
import { createOpenCounter, type OpenCounter, type OpenCountersParts } from './open-counters.ts'

export type BudgetParts = {
  /** The active budgets of an organization, as they are now. */
  readonly activeBudgetsOf: (organizationId: string) => MaybePromise<readonly Budget[]>
  readonly clock: Pick<Clock, 'nowMs'>
  readonly creditUsd: number
} & OpenCountersParts

/** The budgets of a request at its admission, and what it may use of each. */
export type RequestBudgets = {
  /** All that the organization had. */
  readonly all: readonly Budget[]
  readonly applied: readonly AppliedBudget[]
  readonly demands: readonly BudgetDemand[]
}

export type Budgets = {
  /** Undefined if no budget applies. `exceeded` names a budget that is counted and does not reject. */
  of(
    spender: OrganizationSpender,
    worst: BudgetSpend,
    exceeded: string | undefined,
  ): MaybePromise<RequestBudgets | undefined>
  /** What a request used of the budgets that apply at its end. Undefined if the organization has none. */
  usesOf(spender: OrganizationSpender, ended: RequestEnd): MaybePromise<readonly BudgetUse[] | undefined>
  readonly open: OpenCounter
}

export type RequestEnd = {
  readonly spend: BudgetSpend
  readonly atMs: number
  /** Those of its admission. They are still right if no budget was changed and no period has ended. */
  readonly admitted: RequestBudgets | undefined
}

export type OrganizationSpender = Spender & { readonly organizationId: string }

/** The budgets of requests, with counters that are opened from the ledger when a request needs them. */
export function createBudgets({ activeBudgetsOf, clock, creditUsd, ...parts }: BudgetParts): Budgets {
  return {
    open: createOpenCounter({ ...parts, clock }),

    of: (spender, worst, exceeded) =>
      andThen(activeBudgetsOf(spender.organizationId), (budgets) => {
        if (budgets.length === 0) return undefined
        const nowMs = clock.nowMs()
        const applied = appliedBudgets(budgets, spender, nowMs)
        if (applied.length === 0) return undefined
        const terms = { worst, nowMs, creditUsd, exceeded }
        return { all: budgets, applied, demands: applied.map((one) => demandOf(one, terms)) }
      }),

    usesOf: (spender, { spend, atMs, admitted }) =>
      andThen(activeBudgetsOf(spender.organizationId), (budgets) => {
        if (budgets.length === 0) return undefined
        const isSame = admitted?.all === budgets && admitted.applied.every(({ period }) => isIn(period, atMs))
        const applied = isSame ? admitted.applied : appliedBudgets(budgets, spender, atMs)
        return applied.map((one) => useOf(one, spend))
      }),
  }
}

const isIn = ({ startMs, endMs }: PeriodRange, atMs: number): boolean =>
  atMs >= startMs && (endMs === null || atMs < endMs)
