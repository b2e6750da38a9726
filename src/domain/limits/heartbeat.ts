import { createLinkedList } from '../../base/linked-list.ts'
import type { Renewal } from './admission.ts'
import type { LimitStore } from './store.ts'

/** Renews the concurrency slots of this node's long requests, all in one call. */
export type Heartbeat = {
  /** The slot of this request is renewed until the returned object is disposed of. */
  keep(request: Renewal): Disposable
  /** A job calls it at a third of the lease, so two calls may fail. */
  renew(): Promise<void>
}

export function createHeartbeat({ store }: { readonly store: Pick<LimitStore, 'renew'> }): Heartbeat {
  const running = createLinkedList<Renewal>()
  return {
    keep(request) {
      const entry = running.add(request)
      return { [Symbol.dispose]: () => entry.remove() }
    },
    async renew() {
      if (running.size > 0) await store.renew(running.values())
    },
  }
}
