/** Remembers the verdicts used last: at least half as many as it may, and never more. */
export type ScanCache<Verdict> = {
  get(key: string): Verdict | undefined
  set(key: string, verdict: Verdict): void
}

/** Two generations: when the young one is full it becomes the old one, and what is asked for again moves back. */
export function createScanCache<Verdict>(most: number): ScanCache<Verdict> {
  const generation = Math.ceil(most / 2)
  let young = new Map<string, Verdict>()
  let old = new Map<string, Verdict>()

  function remember(key: string, verdict: Verdict): void {
    if (most === 0) return
    if (young.size >= generation) {
      old = young
      young = new Map()
    }
    young.set(key, verdict)
  }
  return {
    get(key) {
      const known = young.get(key)
      if (known !== undefined) return known
      const older = old.get(key)
      if (older !== undefined) remember(key, older)
      return older
    },
    set: remember,
  }
}
