import { dayMs, type Clock } from '../../base/clock.ts'

/** Spending limit per UTC day, counted on this node. */
export type DayBudget = {
  /** Reserves an amount, or returns undefined if the day's budget is exhausted. Call the returned function with the amount actually spent. */
  reserve(usd: number): ((spentUsd: number) => void) | undefined
  spentTodayUsd(): number
}

export function createDayBudget(clock: Clock, maxUsd: number): DayBudget {
  let day = 0
  let spentUsd = 0

  const today = (): number => {
    const now = Math.floor(clock.nowMs() / dayMs)
    if (now !== day) spentUsd = 0
    day = now
    return now
  }
  return {
    reserve(usd) {
      const reservedOn = today()
      if (spentUsd + usd > maxUsd) return undefined
      spentUsd += usd
      return (spent) => {
        if (reservedOn === today()) spentUsd += spent - usd
      }
    },
    spentTodayUsd() {
      today()
      return spentUsd
    },
  }
}
