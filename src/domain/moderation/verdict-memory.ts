/** Remembers the verdicts used last, up to a number of them. */
export type VerdictMemory<Verdict> = {
  recall(key: string): Verdict | undefined
  remember(key: string, verdict: Verdict): void
}

export function createVerdictMemory<Verdict>(most: number): VerdictMemory<Verdict> {
  const verdicts = new Map<string, Verdict>() // in the order of last use, the oldest first
  return {
    recall(key) {
      const verdict = verdicts.get(key)
      if (verdict === undefined) return undefined
      verdicts.delete(key)
      verdicts.set(key, verdict)
      return verdict
    },
    remember(key, verdict) {
      if (most === 0) return
      verdicts.set(key, verdict)
      if (verdicts.size <= most) return
      const [oldest] = verdicts.keys()
      if (oldest !== undefined) verdicts.delete(oldest)
    },
  }
}
