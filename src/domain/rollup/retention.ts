import { day, hour, minute, startOf, week } from './kinds.ts'

/** How long sums are kept, by their step. */
const keptSeconds: ReadonlyMap<number, number> = new Map([
  [minute, 2 * day],
  [hour, 92 * day],
  [day, 1_100 * day],
  [week, 1_100 * day],
])

/** The next longer step, which still has the sums when those of the step are removed. */
const coarser: ReadonlyMap<number, number> = new Map([
  [minute, hour],
  [hour, day],
])

/** Rows are removed later than reports stop to read them, because the clocks of two nodes differ. */
const marginSeconds = hour

/** The time from which on reports read the sums of this step. Before it, they read those of the next longer one. */
export const readFrom = (step: number, nowSeconds: number): number =>
  startOf(nowSeconds - (keptSeconds.get(step) ?? 0), coarser.get(step) ?? step)

/** The time before which the sums of this step are removed. */
export const removeBefore = (step: number, nowSeconds: number): number => readFrom(step, nowSeconds - marginSeconds)

/** The same for names of end users, which are kept no longer than the audit log keeps them. */
export const readUsersFrom = (nowSeconds: number, userDays: number): number => startOf(nowSeconds - userDays * day, day)

/** The time before which names are removed. */
export const forgetUsersBefore = (nowSeconds: number, userDays: number): number =>
  readUsersFrom(nowSeconds - marginSeconds, userDays)

export const removeUsersBefore = (step: number, nowSeconds: number, userDays: number): number =>
  Math.max(removeBefore(step, nowSeconds), forgetUsersBefore(nowSeconds, userDays))
