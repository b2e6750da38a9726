/**
 * Counts what happened in a sliding window: a ring of slots and their running total. The ring has one slot more
 * than the window is long, so that two events at most a window apart are always counted together.
 */
export type SlidingWindow = {
  readonly slotMs: number
  readonly amounts: Float64Array
  /** The number, since time began, of the slot that is filled now. */
  newestSlot: number
  total: number
}

const createSlidingWindow = (slotMs: number, slots: number): SlidingWindow => ({
  slotMs,
  amounts: new Float64Array(slots),
  newestSlot: 0,
  total: 0,
})

export const createMinuteWindow = (): SlidingWindow => createSlidingWindow(1_000, 61)
export const createDayWindow = (): SlidingWindow => createSlidingWindow(3_600_000, 25)

const amountAt = (tally: SlidingWindow, slot: number): number => tally.amounts[slot % tally.amounts.length] ?? 0

const change = (tally: SlidingWindow, slot: number, by: number): void => {
  tally.amounts[slot % tally.amounts.length] = amountAt(tally, slot) + by
  tally.total += by
}

/** Moves the window on to `nowMs`; what is older leaves it. Time never goes back here. */
export function slide(tally: SlidingWindow, nowMs: number): void {
  const slot = Math.floor(nowMs / tally.slotMs)
  if (slot <= tally.newestSlot) return
  if (tally.total > 0) {
    const end = Math.min(slot, tally.newestSlot + tally.amounts.length)
    for (let leaving = tally.newestSlot + 1; leaving <= end; leaving++) {
      change(tally, leaving, -amountAt(tally, leaving))
    }
  }
  tally.newestSlot = slot
}

/** Counts `amount` as of the moment the tally was last moved to. */
export const add = (tally: SlidingWindow, amount: number): void => change(tally, tally.newestSlot, amount)

/** Takes back part of what was counted at `atMs`, unless that has left the window already. */
export function takeBack(tally: SlidingWindow, atMs: number, amount: number): void {
  const slot = Math.floor(atMs / tally.slotMs)
  if (slot > tally.newestSlot - tally.amounts.length) change(tally, slot, -Math.min(amount, amountAt(tally, slot)))
}

/** Counts what another store counted in a slot of the same length; a slot that is still to come is the newest one. */
export function addTo(tally: SlidingWindow, slot: number, amount: number): void {
  if (slot >= oldestSlot(tally)) change(tally, Math.min(slot, tally.newestSlot), amount)
}

/** The numbers of the slots in the window, oldest first, in which one of the two counted anything. */
export function usedSlots(
  requests: SlidingWindow,
  tokens: SlidingWindow,
): [slot: number, requests: number, tokens: number][] {
  const used: [number, number, number][] = []
  if (requests.total === 0 && tokens.total === 0) return used
  for (let slot = oldestSlot(requests); slot <= requests.newestSlot; slot++) {
    const [counted, countedTokens] = [amountAt(requests, slot), amountAt(tokens, slot)]
    if (counted > 0 || countedTokens > 0) used.push([slot, counted, countedTokens])
  }
  return used
}

const oldestSlot = (tally: SlidingWindow): number => Math.max(0, tally.newestSlot - tally.amounts.length + 1)

const leavesAtMs = (tally: SlidingWindow, slot: number): number => (slot + tally.amounts.length) * tally.slotMs

/** Until `excess` of the oldest amounts have left. Infinity: there is not that much to leave. */
export function waitMs(tally: SlidingWindow, excess: number, nowMs: number): number {
  let freed = 0
  for (let slot = oldestSlot(tally); slot <= tally.newestSlot; slot++) {
    freed += amountAt(tally, slot)
    if (freed >= excess) return leavesAtMs(tally, slot) - nowMs
  }
  return Infinity
}

/** Until the window is empty. */
export function resetMs(tally: SlidingWindow, nowMs: number): number {
  if (tally.total === 0) return 0
  let slot = tally.newestSlot
  while (amountAt(tally, slot) === 0) slot--
  return leavesAtMs(tally, slot) - nowMs
}
