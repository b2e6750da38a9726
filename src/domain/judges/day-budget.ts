import { dayMs, type Clock } from '../../base/clock.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'

/** Spending limit per UTC day. */
export type DayBudget = {
  /** Reserves an amount, or returns undefined if the day's budget is exhausted. Call the returned function with the amount actually spent. */
  reserve(usd: number): MaybePromise<SettleSpending | undefined>
}

export type SettleSpending = (spentUsd: number) => void

/** A budget of all nodes, of which this one uses slices. */
export type SharedBudget = DayBudget &
  AsyncDisposable & {
    /** By this node. */
    spentTodayUsd(): number
  }

/** The part of a budget that nodes have reserved. */
export type BudgetSlices = {
  /** Returns false, and takes nothing, if the budget of the day does not have this much left. */
  take(slice: {
    readonly name: string
    readonly day: number
    readonly micros: number
    readonly maxMicros: number
  }): Promise<boolean>
  giveBack(slice: { readonly name: string; readonly day: number; readonly micros: number }): Promise<void>
}

type SharedBudgetParts = {
  readonly name: string
  readonly maxUsd: number
  readonly slices: BudgetSlices
  readonly clock: Pick<Clock, 'nowMs'>
}

/** A slice is this part of the budget. */
const slicesPerDay = 50

/**
 * A budget that nodes share. Each takes slices of it from the database, so that a call waits for the database only once a slice. While
 * the database cannot be reached, a node may spend one slice more than it has taken.
 */
export function createSharedBudget({ name, maxUsd, slices, clock }: SharedBudgetParts): SharedBudget {
  const maxMicros = Math.floor(maxUsd * 1_000_000)
  const sliceMicros = Math.ceil(maxMicros / slicesPerDay)
  let day = 0
  /** Taken from the budget, and neither spent nor reserved. */
  let free = 0
  let spent = 0
  let withoutDatabase = 0
  let isRefilling = false
  let grants = Promise.resolve()

  function today(): number {
    const now = Math.floor(clock.nowMs() / dayMs)
    if (now !== day) {
      free = 0
      spent = 0
      withoutDatabase = 0
    }
    day = now
    return now
  }

  function reserved(micros: number): SettleSpending {
    const reservedOn = day
    free -= micros
    spent += micros
    if (free < sliceMicros / 2 && !isRefilling) void refill()
    return (spentUsd) => {
      if (reservedOn !== today()) return
      const unspent = micros - microsOf(spentUsd)
      free += unspent
      spent -= unspent
    }
  }

  /** Before the slice is used up, so that no call waits for it. */
  async function refill(): Promise<void> {
    isRefilling = true
    try {
      const takenOn = day
      if ((await slices.take({ name, day: takenOn, micros: sliceMicros, maxMicros })) && takenOn === day)
        free += sliceMicros
    } catch {
      // The next call that needs it tries again.
    } finally {
      isRefilling = false
    }
  }

  /** One after the other: the slice of the first may be enough for the next. */
  async function grant(micros: number): Promise<void> {
    const before = grants
    const { promise, resolve } = Promise.withResolvers<void>()
    grants = promise
    await before
    try {
      await grantNext(micros)
    } finally {
      resolve()
    }
  }

  async function grantNext(micros: number): Promise<void> {
    today()
    const missing = micros - free
    if (missing <= 0) return
    const takenOn = day
    try {
      for (const wanted of new Set([Math.max(sliceMicros, missing), missing]))
        if (await slices.take({ name, day: takenOn, micros: wanted, maxMicros })) {
          if (takenOn === day) free += wanted
          return
        }
    } catch {
      if (takenOn !== day || withoutDatabase + missing > sliceMicros) return
      withoutDatabase += missing
      free += missing
    }
  }

  return {
    reserve(usd) {
      today()
      const micros = microsOf(usd)
      if (free >= micros) return reserved(micros)
      return grant(micros).then(() => (free >= micros ? reserved(micros) : undefined))
    },
    spentTodayUsd() {
      today()
      return spent / 1_000_000
    },
    async [Symbol.asyncDispose]() {
      today()
      const micros = Math.min(free, maxMicros)
      if (micros <= 0) return
      free = 0
      await slices.giveBack({ name, day, micros }).catch(() => undefined) // the slice is lost until the end of the day
    },
  }
}

/** Several budgets at once: each has to have the amount. */
export const allBudgets = (budgets: readonly DayBudget[]): DayBudget => ({
  async reserve(usd) {
    const settles: SettleSpending[] = []
    for (const budget of budgets) {
      const settle = await budget.reserve(usd)
      if (settle === undefined) {
        for (const each of settles) each(0)
        return undefined
      }
      settles.push(settle)
    }
    return (spentUsd) => {
      for (const settle of settles) settle(spentUsd)
    }
  },
})

const microsOf = (usd: number): number => Math.ceil(usd * 1_000_000 - 1e-6)
