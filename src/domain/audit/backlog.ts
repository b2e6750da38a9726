import { everySoOften, type Clock } from '../../base/clock.ts'
import type { AuditEvent } from './event.ts'
import type { AuditAppender } from './log.ts'
import type { AuditSpool } from './spool.ts'

export type AuditBacklogParts = {
  readonly appender: AuditAppender
  readonly spool: AuditSpool
  readonly clock: Clock
}

/** Events that wait on this node's disk for the log to come back. */
export type AuditBacklog = Disposable & {
  /** Keeps events of one organization; rejects where there are too many, or the disk does not take them. */
  keep(events: readonly AuditEvent[]): Promise<void>
  waiting(): number
  /** Tries now, and answers whether all of it is written. */
  flush(): Promise<boolean>
}

const mostEvents = 100_000
const tryEveryMs = 1_000
const together = 500

/** Takes up what an earlier life left behind. What waited gets its place in the chain behind what was written meanwhile. */
export async function createAuditBacklog({ appender, spool, clock }: AuditBacklogParts): Promise<AuditBacklog> {
  let waiting = await spool.count()
  let flushing: Promise<boolean> | undefined

  async function writeAll(): Promise<boolean> {
    for (let events = await spool.read(together); events.length > 0; events = await spool.read(together)) {
      for (const [organizationId, own] of Map.groupBy(events, ({ document }) => document.metadata.tenant_uid)) {
        await appender.append(organizationId, own, true)
        await spool.remove(own.map(({ document }) => document.metadata.uid))
      }
    }
    waiting = await spool.count()
    return waiting === 0
  }

  const flush = (): Promise<boolean> => {
    flushing ??= writeAll()
      .catch(() => false) // it waits on
      .finally(() => (flushing = undefined))
    return flushing
  }
  const beat = everySoOften(clock, async () => waiting > 0 && flush(), tryEveryMs)

  return {
    async keep(events) {
      if (waiting + events.length > mostEvents) throw new Error(`${waiting} events wait on this disk already`)
      await spool.append(events)
      waiting += events.length
    },
    waiting: () => waiting,
    flush,
    [Symbol.dispose]: () => beat[Symbol.dispose](),
  }
}
