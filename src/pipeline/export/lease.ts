import { repeat, type Clock } from '../../base/clock.ts'
import type { DeliveryStore } from '../../domain/audit/export/delivery-store.ts'

type LeaseParts = {
  readonly store: Pick<DeliveryStore, 'renew' | 'release'>
  readonly clock: Clock
  readonly leaseMs: number
}

type Lease = AsyncDisposable & { readonly signal: AbortSignal }

/** Renews the lease of a claimed sink during a delivery, and aborts the delivery if the lease is lost. */
export function holdLease({ store, clock, leaseMs }: LeaseParts, sinkId: string, stopping: AbortSignal): Lease {
  const lost = new AbortController()
  const renewal = repeat(clock, () => renew().catch(() => lost.abort()), leaseMs / 3)
  const renew = async (): Promise<void> => {
    if (!(await store.renew(sinkId))) lost.abort(new Error('another node has taken over this sink'))
  }
  return {
    signal: AbortSignal.any([lost.signal, stopping]),
    async [Symbol.asyncDispose]() {
      renewal[Symbol.dispose]()
      await store.release(sinkId)
    },
  }
}
