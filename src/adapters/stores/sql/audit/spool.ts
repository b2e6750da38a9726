import type { Spool } from '../../../../base/spool.ts'
import type { AuditEvent } from '../../../../domain/audit/event/event.ts'
import { createDiskSpool } from '../disk-spool.ts'

/** The spool of audit events, in a folder of this machine. */
export const createAuditSpool = (folder: string): Spool<AuditEvent> =>
  createDiskSpool(folder, {
    table: 'unwritten',
    id: 'event_id',
    value: 'event',
    idOf: ({ document }) => document.metadata.uid,
    atMsOf: ({ document }) => document.metadata.logged_time,
  })
