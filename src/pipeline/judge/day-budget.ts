import { dayMs, type Clock } from '../../base/clock.ts'

/** What may be spent in a UTC day, counted on this node. */
export type DayBudget = {
  /** Sets so much aside; undefined where the day has not got it. The answer says what it was in the end. */
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
      const heldOn = today()
      if (spentUsd + usd > maxUsd) return undefined
      spentUsd += usd
      return (spent) => {
        if (heldOn === today()) spentUsd += spent - usd
      }
    },
    spentTodayUsd() {
      today()
      return spentUsd
    },
  }
}
