import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'

/** Decides whether a dependency is asked at all. */
export type CircuitBreaker = Disposable & {
  isOpen(): boolean
  /** A call failed. Too many in a short time open it. */
  failed(): void
}

export type CircuitBreakerOptions = {
  readonly clock: Clock
  readonly random: Random
  /** Resolves when the dependency answers again. */
  readonly probe: () => Promise<void>
  readonly onChange?: (isOpen: boolean) => void
}

const maxFailures = 3
const withinMs = 1_000
const probeEveryMs = 1_000

/** Opens after three failures within a second. While open, only its own probe asks, about once a second. */
export function createCircuitBreaker({ clock, random, probe, onChange }: CircuitBreakerOptions): CircuitBreaker {
  let failures: number[] = []
  let isOpen = false
  let isDisposed = false
  let cancelProbe = (): void => {}

  const set = (open: boolean): void => {
    isOpen = open
    failures = []
    onChange?.(open)
  }

  const probeLater = (): void => {
    if (isDisposed) return
    // Spread, so that many nodes do not ask a server that just woke up all at once.
    const delayMs = probeEveryMs * (0.75 + random.fraction() / 2)
    cancelProbe = clock.after(delayMs, () => void probe().then(() => set(false), probeLater))
  }

  return {
    isOpen: () => isOpen,
    failed() {
      if (isOpen) return
      const nowMs = clock.monotonicMs()
      failures = [...failures.filter((atMs) => nowMs - atMs < withinMs), nowMs]
      if (failures.length < maxFailures) return
      set(true)
      probeLater()
    },
    [Symbol.dispose]() {
      isDisposed = true
      cancelProbe()
    },
  }
}
