/** A cache of the maxEntries recently used results. Keeps at least half of its maximum, and never more than the maximum. */
export type ScanCache<Result> = {
  get(key: string): Result | undefined
  set(key: string, result: Result): void
}

/** Two generations: when the young one is full it becomes the old one. A hit in the old one moves the entry back. */
export function createScanCache<Result>(maxEntries: number): ScanCache<Result> {
  const generation = Math.ceil(maxEntries / 2)
  let young = new Map<string, Result>()
  let old = new Map<string, Result>()

  function set(key: string, result: Result): void {
    if (maxEntries === 0) return
    if (young.size >= generation) {
      old = young
      young = new Map()
    }
    young.set(key, result)
  }
  return {
    get(key) {
      const known = young.get(key)
      if (known !== undefined) return known
      const older = old.get(key)
      if (older !== undefined) set(key, older)
      return older
    },
    set,
  }
}
