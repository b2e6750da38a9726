import type { BudgetSlices } from '../../src/domain/judges/day-budget.ts'

/** Budgets in memory, as the nodes of an installation share them in the database. */
export function createMemorySlices(): BudgetSlices & { readonly takenMicros: () => number; isDown: boolean } {
  const taken = new Map<string, number>()
  const keyOf = ({ name, day }: { readonly name: string; readonly day: number }): string => `${name} ${day}`
  return {
    isDown: false,
    takenMicros: () => [...taken.values()].reduce((sum, micros) => sum + micros, 0),
    async take(slice) {
      if (this.isDown) throw new Error('the database is down')
      const before = taken.get(keyOf(slice)) ?? 0
      if (before + slice.micros > slice.maxMicros) return false
      taken.set(keyOf(slice), before + slice.micros)
      return true
    },
    async giveBack(slice) {
      taken.set(keyOf(slice), (taken.get(keyOf(slice)) ?? 0) - slice.micros)
    },
  }
}
