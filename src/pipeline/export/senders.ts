import { minuteMs } from '../../base/clock.ts'
import type { ClaimedSink } from '../../domain/audit/export/delivery-store.ts'
import { afterFailure } from '../../domain/audit/export/delivery.ts'
import type { OpenedSink } from '../../domain/audit/export/sink.ts'
import { gatewayError, deliverAll, type DeliverParts } from './deliver.ts'
import { holdLease } from './lease.ts'

export type SenderParts = DeliverParts & {
  /** Opens a sink with its configuration. It is closed after a change of the configuration, or when it is idle. */
  readonly open: (claimed: ClaimedSink) => OpenedSink & AsyncDisposable
  readonly leaseMs: number
}

export type SinkSenders = AsyncDisposable & {
  /** Starts a delivery for each sink that has events to send, and does not wait for them: a slow destination delays no other. */
  startDue(): Promise<void>
  /** The same, and resolves when all deliveries have ended. */
  sendDue(): Promise<void>
}

/** Parallel deliveries of one node; other nodes may take further sinks. */
const maxAtOnce = 32
const idleMs = 5 * minuteMs

type CachedSink = { readonly version: number; readonly sink: OpenedSink & AsyncDisposable; usedAtMs: number }

/** Sends audit events to every sink that is behind; a lease gives each sink to one node. Disposing releases the leases. */
export function createSenders(parts: SenderParts): SinkSenders {
  const { store, clock, onError } = parts
  const cache = new Map<string, CachedSink>()
  const running = new Map<string, Promise<void>>()
  const stop = new AbortController()

  const startDue = async (): Promise<void> => {
    const due = await store.due(maxAtOnce)
    for (const id of due) {
      if (running.size >= maxAtOnce || stop.signal.aborted) break
      if (!running.has(id))
        running.set(
          id,
          run(id).finally(() => running.delete(id)),
        )
    }
    await closeIdle()
  }

  async function run(sinkId: string): Promise<void> {
    try {
      const claimed = await store.claim(sinkId)
      if (!claimed) return
      await using lease = holdLease(parts, sinkId, stop.signal)
      await deliverAll(parts, { claimed, sink: await openOrFail(claimed), signal: lease.signal })
    } catch (error) {
      if (!stop.signal.aborted) onError(error, sinkId)
    }
  }

  /** Stores the failure if the sink cannot be opened, because it must not look healthy. */
  async function openOrFail(claimed: ClaimedSink): Promise<OpenedSink> {
    try {
      return await openCached(claimed)
    } catch (error) {
      const cursor = afterFailure(claimed.cursor, gatewayError, { nowMs: clock.nowMs(), random: parts.random })
      await store.settle(claimed, { cursor, rejected: [], sinkEvents: [] })
      throw error
    }
  }

  /** Reuses connections and tokens between batches until the configuration changes. */
  async function openCached(claimed: ClaimedSink): Promise<OpenedSink> {
    const cached = cache.get(claimed.id)
    if (cached?.version === claimed.version) {
      cached.usedAtMs = clock.monotonicMs()
      return cached.sink
    }
    await cached?.sink[Symbol.asyncDispose]()
    const sink = parts.open(claimed)
    cache.set(claimed.id, { version: claimed.version, sink, usedAtMs: clock.monotonicMs() })
    return sink
  }

  async function closeIdle(): Promise<void> {
    for (const [id, { sink, usedAtMs }] of cache) {
      if (running.has(id) || clock.monotonicMs() - usedAtMs < idleMs) continue
      cache.delete(id)
      await sink[Symbol.asyncDispose]()
    }
  }

  return {
    startDue,
    async sendDue() {
      await startDue()
      await Promise.all(running.values())
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error('the service is stopping'))
      await Promise.all(running.values())
      for (const { sink } of cache.values()) await sink[Symbol.asyncDispose]()
    },
  }
}
