import type { Clock } from '../../../../base/clock.ts'
import { plural } from '../../../../base/plural.ts'
import type { AuditEvent } from '../../../../domain/audit/event/event.ts'
import type { EventMaker } from '../../../../domain/audit/event/event-maker.ts'
import type { Database } from '../database.ts'
import { appendInTransaction } from './chain.ts'

/** Writes that were acknowledged before a crash and are missing, because the operator started without them. */
export type AcceptedLoss = { readonly at: number; readonly groups: number | null; readonly description: string }

export type LossReportParts = { readonly events: EventMaker; readonly clock: Pick<Clock, 'nowMs'> }

/**
 * Appends an event to the log of every organization for each loss that the recovery of the embedded database stored. The events and
 * the removal of the stored losses are one transaction, so a crash neither drops nor repeats an event.
 */
export async function reportAcceptedLosses(database: Database, parts: LossReportParts): Promise<AcceptedLoss[]> {
  const tables = await database.read(`select name from sqlite_master where name = 'redo_loss'`)
  if (tables.length === 0) return []
  const { authorityUid } = parts.events
  return database.transaction(async (tx) => {
    const losses = await tx.query<AcceptedLoss>('select at, groups, description from redo_loss order by at')
    for (const { id } of await tx.query<{ id: string }>('select id from organization')) {
      const events = losses.map((loss) => lossEvent(id, loss, parts))
      await appendInTransaction(tx, events, { organizationId: id, authorityUid })
    }
    await tx.run('drop table redo_loss')
    return losses
  })
}

function lossEvent(organizationId: string, loss: AcceptedLoss, { events, clock }: LossReportParts): AuditEvent {
  const { at, groups, description } = loss
  const lost = groups === null ? 'an unknown number of writes' : `at least ${plural(groups, 'write')}`
  return events.makeEvent({
    code: 'audit.loss_accepted',
    organizationId,
    timeMs: clock.nowMs(),
    message: `After a crash the redo log was damaged, and the operator started without ${lost} that had been acknowledged.`,
    details: { groups, description, accepted_at: Math.floor(at / 1000) },
  })
}
