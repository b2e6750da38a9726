import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'

/** Decides whether a dependency is called at all. */
export type CircuitBreaker = Disposable & {
  isOpen(): boolean
  /** Reports a failed call. Too many in a short time open the breaker. */
  failed(): void
}

export type CircuitBreakerOptions = {
  readonly clock: Clock
  readonly random: Random
  /** Resolves when the dependency works again. */
  readonly probe: () => Promise<void>
  readonly onChange?: (isOpen: boolean) => void
}

const maxFailures = 3
const withinMs = 1_000
const probeEveryMs = 1_000

/** Opens after three failures within a second. While it is open, only its own probe calls, about once a second. */
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
    // With jitter, so that not all nodes call a server at once that has just come back.
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
