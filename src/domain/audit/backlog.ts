import { createDrainingSpool, type DrainingSpool, type Spool } from '../../base/spool.ts'
import type { AuditEvent } from './event/event.ts'
import type { AuditAppender } from './log.ts'

export type AuditBacklogParts = {
  readonly appender: AuditAppender
  readonly spool: Spool<AuditEvent>
}

/** Events that wait on this node's disk for the log to come back. */
export type AuditBacklog = Omit<DrainingSpool<AuditEvent>, 'add'> & {
  /** Keeps events; rejects where there are too many, or the disk does not take them. */
  keep(events: readonly AuditEvent[]): Promise<void>
}

const mostEvents = 100_000

/** What waited gets its place in the chain behind what was written meanwhile. */
export async function createAuditBacklog({ appender, spool }: AuditBacklogParts): Promise<AuditBacklog> {
  const { add, ...kept } = await createDrainingSpool({ spool, write })
  return {
    ...kept,
    async keep(events) {
      const waiting = kept.waiting()
      if (waiting + events.length > mostEvents) throw new Error(`${waiting} events wait on this disk already`)
      await add(events)
    },
  }

  async function write(events: readonly AuditEvent[]): Promise<void> {
    const byOrganization = Map.groupBy(events, ({ document }) => document.metadata.tenant_uid)
    for (const [organizationId, own] of byOrganization) await appender.append(organizationId, own, true)
  }
}
