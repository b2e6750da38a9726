const firstDelayMs = 500
const mostDelayMs = 30_000
/** A worker that ran for this long is not one that dies at every start. */
const longRunMs = 60_000

/**
 * How long to wait before a worker that died after `ranMs` is started again: not at all after the first death, and then twice as long
 * after each that follows soon.
 */
export function restartDelayMs(worker: { deathsInARow: number }, ranMs: number): number {
  const before = ranMs >= longRunMs ? 0 : worker.deathsInARow
  worker.deathsInARow = before + 1
  return before === 0 ? 0 : Math.min(mostDelayMs, firstDelayMs * 2 ** (before - 1))
}
