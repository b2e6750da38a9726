import { createDrainingSpool, type DrainingSpool, type SpoolDrainParts } from '../../base/spool.ts'
import type { AuditEvent } from './event/event.ts'
import type { AuditAppender } from './log.ts'

export type AuditBacklogParts = Omit<SpoolDrainParts<AuditEvent>, 'write'> & { readonly appender: AuditAppender }

/** Events that wait on this node's disk until the log can be written again. */
export type AuditBacklog = Omit<DrainingSpool<AuditEvent>, 'add'> & {
  /** Stores events; rejects if there are too many, or if the disk cannot be written. */
  keep(events: readonly AuditEvent[]): Promise<void>
}

const maxEvents = 100_000

/** Waiting events are appended to the chain after the events that were written meanwhile. */
export async function createAuditBacklog({ appender, ...parts }: AuditBacklogParts): Promise<AuditBacklog> {
  const { add, ...spooled } = await createDrainingSpool({ ...parts, write })
  return {
    ...spooled,
    async keep(events) {
      const waiting = spooled.waiting()
      if (waiting + events.length > maxEvents) throw new Error(`${waiting} events already wait on this disk`)
      await add(events)
    },
  }

  async function write(events: readonly AuditEvent[]): Promise<void> {
    const byOrganization = Map.groupBy(events, ({ document }) => document.metadata.tenant_uid)
    for (const [organizationId, own] of byOrganization) await appender.append(organizationId, own, true)
  }
}
