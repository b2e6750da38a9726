import { changeFacts } from '../../../../domain/audit/event/admin-facts.ts'
import type { EventMaker } from '../../../../domain/audit/event/event-maker.ts'
import type { EventLog } from '../../../../domain/audit/log.ts'
import type { AuditLogStore } from '../../../../domain/mutations/audit-log.ts'
import { appendInTransaction } from './chain.ts'
import type { Transaction } from '../database.ts'

/** Appends events inside the transaction of the change that they record. */
export const eventLog = (tx: Transaction, { makeEvent, authorityUid }: EventMaker): EventLog => ({
  async append(facts) {
    const { organizationId } = facts
    await appendInTransaction(tx, [makeEvent(facts)], { organizationId, authorityUid })
  },
})

/** Appends the audit records of administrators' mutations, inside the transaction of the mutation. */
export const auditLogStore = (tx: Transaction, { makeEvent, authorityUid }: EventMaker): AuditLogStore => ({
  async append(entry) {
    const { organizationId } = entry.actor
    await appendInTransaction(tx, [makeEvent(changeFacts(entry), entry.id)], { organizationId, authorityUid })
  },
})
