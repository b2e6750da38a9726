/**
 * A sliding-window counter: a ring of slots and their running total. The ring has one slot more than the window is long, so
 * that two events at most one window apart are always counted together.
 */
export type SlidingWindow = {
  readonly slotMs: number
  readonly amounts: Float64Array
  /** The number of the current slot since the Unix epoch. */
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

const amountAt = (window: SlidingWindow, slot: number): number => window.amounts[slot % window.amounts.length] ?? 0

const change = (window: SlidingWindow, slot: number, by: number): void => {
  window.amounts[slot % window.amounts.length] = amountAt(window, slot) + by
  window.total += by
}

/** Advances the window to `nowMs` and drops older slots. Time never goes back here. */
export function slide(window: SlidingWindow, nowMs: number): void {
  const slot = Math.floor(nowMs / window.slotMs)
  if (slot <= window.newestSlot) return
  if (window.total > 0) {
    const end = Math.min(slot, window.newestSlot + window.amounts.length)
    for (let leaving = window.newestSlot + 1; leaving <= end; leaving++) {
      change(window, leaving, -amountAt(window, leaving))
    }
  }
  window.newestSlot = slot
}

/** Adds `amount` to the current slot. */
export const add = (window: SlidingWindow, amount: number): void => change(window, window.newestSlot, amount)

/** Subtracts from what was counted at `atMs`, unless that slot has left the window. */
export function takeBack(window: SlidingWindow, atMs: number, amount: number): void {
  const slot = Math.floor(atMs / window.slotMs)
  if (slot > window.newestSlot - window.amounts.length) change(window, slot, -Math.min(amount, amountAt(window, slot)))
}

/** Adds what another store counted in a slot of the same length. A slot in the future counts as the current one. */
export function addTo(window: SlidingWindow, slot: number, amount: number): void {
  if (slot >= oldestSlot(window)) change(window, Math.min(slot, window.newestSlot), amount)
}

/** The slots in the window, oldest first, in which one of the two counters is not 0. */
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

const oldestSlot = (window: SlidingWindow): number => Math.max(0, window.newestSlot - window.amounts.length + 1)

const leavesAtMs = (window: SlidingWindow, slot: number): number => (slot + window.amounts.length) * window.slotMs

/** Time until `excess` of the oldest amounts has left the window. Infinity: the window holds less than that. */
export function waitMs(window: SlidingWindow, excess: number, nowMs: number): number {
  let freed = 0
  for (let slot = oldestSlot(window); slot <= window.newestSlot; slot++) {
    freed += amountAt(window, slot)
    if (freed >= excess) return leavesAtMs(window, slot) - nowMs
  }
  return Infinity
}

/** Time until the window is empty. */
export function resetMs(window: SlidingWindow, nowMs: number): number {
  if (window.total === 0) return 0
  let slot = window.newestSlot
  while (amountAt(window, slot) === 0) slot--
  return leavesAtMs(window, slot) - nowMs
}
