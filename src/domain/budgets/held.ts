import { LimitStoreError, type LimitStore } from '../limits/store.ts'
import type { Budget } from './budget.ts'
import { counterOf } from './counters.ts'
import type { PeriodRange } from './period.ts'

type HeldParts = {
  readonly limits: Pick<LimitStore, 'heldBudgets'>
  /** The price of a credit. */
  readonly creditUsd: number
}

/** The members of a budget in a period. */
type HeldMembers = {
  readonly budget: Budget
  readonly period: PeriodRange
  readonly members: readonly (string | null)[]
}

/**
 * What running requests may spend of a budget yet, by member, in the unit of its amount. Null if the counters cannot be read, and for a
 * budget that only warns, because it has none.
 */
export type ReadHeld = (of: HeldMembers) => Promise<readonly number[] | null>

export const createReadHeld =
  ({ limits, creditUsd }: HeldParts): ReadHeld =>
  async ({ budget, period, members }) => {
    if (budget.action.type === 'warn') return null
    const counters = members.map((member) => counterOf(budget, member, period))
    try {
      const held = await limits.heldBudgets(budget.organizationId, counters)
      return budget.unit === 'usd' ? held.map((micro) => Math.round(micro * creditUsd)) : held
    } catch (error) {
      if (error instanceof LimitStoreError) return null
      throw error
    }
  }
