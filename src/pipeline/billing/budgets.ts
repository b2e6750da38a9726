import { randomInt } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { Fault } from '../../base/fault.ts'
import { andThen, isPromise, type MaybePromise } from '../../base/maybe-promise.ts'
import type { Budget } from '../../domain/budgets/budget.ts'
import {
  appliedBudgets,
  demandOf,
  expiryOf,
  inUnit,
  phaseAt,
  useOf,
  type AppliedBudget,
  type BudgetSpend,
} from '../../domain/budgets/counters.ts'
import type { Spender } from '../../domain/budgets/match.ts'
import type { PeriodRange } from '../../domain/budgets/period.ts'
import type { BudgetDemand, BudgetUse } from '../../domain/limits/budget-counters.ts'
import type { LimitStore } from '../../domain/limits/store.ts'

export type BudgetParts = {
  /** The active budgets of an organization, as they are now. */
  readonly activeBudgetsOf: (organizationId: string) => MaybePromise<readonly Budget[]>
  /** What the ledger says that was spent of a budget. */
  readonly spentOf: (applied: AppliedBudget) => Promise<BudgetSpend>
  readonly limits: Pick<LimitStore, 'countBudgets'>
  readonly clock: Pick<Clock, 'nowMs'>
  readonly creditUsd: number
}

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
  /** Opens the counters of these budgets in the store with this epoch. */
  open(applied: readonly AppliedBudget[], epoch: string): Promise<void>
}

export type RequestEnd = {
  readonly spend: BudgetSpend
  readonly atMs: number
  /** Those of its admission. They are still right if no budget was changed and no period has ended. */
  readonly admitted: RequestBudgets | undefined
}

export type OrganizationSpender = Spender & { readonly organizationId: string }

const maxToken = 2 ** 47

/** The budgets of requests, with counters that are opened from the ledger when a request needs them. */
export function createBudgets({ activeBudgetsOf, spentOf, limits, clock, creditUsd }: BudgetParts): Budgets {
  const opening = new Map<string, Promise<void>>()

  return {
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

    async open(applied, epoch) {
      await Promise.all(applied.map((one) => openOnce(one, epoch)))
    },
  }

  /** Requests that need the same counter wait for one count. */
  function openOnce(applied: AppliedBudget, epoch: string): Promise<void> {
    const name = `${epoch} ${applied.counter}`
    const known = opening.get(name)
    if (known !== undefined) return known
    const opened = openNow(applied, epoch).finally(() => opening.delete(name))
    opening.set(name, opened)
    return opened
  }

  async function openNow(applied: AppliedBudget, epoch: string): Promise<void> {
    const { budget, counter } = applied
    const count = { organization: budget.organizationId, epoch, token: randomInt(maxToken) }
    const counted = { counter, phase: phaseAt(budget, clock.nowMs()), expiresAtMs: expiryOf(applied) }
    const begun = limits.countBudgets({ ...count, counters: [{ ...counted, spent: null }] })
    if (isPromise(begun)) await begun
    const spent = await spentOf(applied).catch((error: unknown) => {
      throw budgetsUnavailable(error)
    })
    const opened = limits.countBudgets({ ...count, counters: [{ ...counted, spent: inUnit(budget, spent) }] })
    if (isPromise(opened)) await opened
  }
}

const isIn = ({ startMs, endMs }: PeriodRange, atMs: number): boolean =>
  atMs >= startMs && (endMs === null || atMs < endMs)

/** What was spent cannot be read, so no request may start that a budget could reject. */
export const budgetsUnavailable = (cause?: unknown): Fault =>
  new Fault('unavailable', 'budget_unavailable', 'What is left of a budget cannot be read right now.', {
    retryAfterSeconds: 5,
    cause,
  })
