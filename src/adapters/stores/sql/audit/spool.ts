import type { AuditEvent } from '../../../../domain/audit/event.ts'
import type { AuditSpool } from '../../../../domain/audit/spool.ts'
import { createDiskQueue } from '../disk-queue.ts'

/** Events that wait in a folder of this machine. */
export function createAuditSpool(folder: string): AuditSpool {
  const queue = createDiskQueue<AuditEvent>(folder, { table: 'unwritten', id: 'event_id', value: 'event' })
  return {
    ...queue,
    append: (events) =>
      queue.append(
        events.map((value) => ({ id: value.document.metadata.uid, atMs: value.document.metadata.logged_time, value })),
      ),
  }
}
