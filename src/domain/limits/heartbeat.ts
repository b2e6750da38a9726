import type { Clock } from '../../base/clock.ts'
import type { Renewal } from './admission.ts'
import type { LimitStore } from './store.ts'

/** Renews the places of this node's long requests, all in one call. */
export type Heartbeat = Disposable & {
  /** From now until the answer is disposed of. */
  keep(request: Renewal): Disposable
}

export type HeartbeatOptions = {
  readonly store: Pick<LimitStore, 'renew'>
  readonly clock: Clock
  /** A third of a lease, so that two beats may be lost. */
  readonly everyMs?: number
}

export function createHeartbeat({ store, clock, everyMs = 10_000 }: HeartbeatOptions): Heartbeat {
  const running = new Map<string, Renewal>()
  let cancel: (() => void) | null = null

  const beatLater = (): void => {
    cancel = clock.after(everyMs, () => void beat())
  }

  const beat = async (): Promise<void> => {
    cancel = null
    if (running.size === 0) return
    beatLater()
    try {
      await store.renew([...running.values()])
    } catch {
      // The store tells of its failures itself, and the next beat tries again.
    }
  }

  return {
    keep(request) {
      running.set(request.requestId, request)
      if (cancel === null) beatLater()
      const end = (): void => void running.delete(request.requestId)
      return { [Symbol.dispose]: end }
    },
    [Symbol.dispose]() {
      running.clear()
      cancel?.()
    },
  }
}
