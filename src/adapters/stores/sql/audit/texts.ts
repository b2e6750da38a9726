import type { AuditTexts } from '../../../../domain/audit/log.ts'
import type { Transaction } from '../database.ts'
import { eraseNotes } from '../policies/appeals.ts'

/** Erases texts of requests only; records of administrators' mutations cannot be erased. */
export const auditTexts = (tx: Transaction): AuditTexts => ({
  async erase(organizationId, requestId) {
    const ofRequest = [organizationId, requestId]
    // A digest of a short text tells the text to those who guess it.
    const exceptions = await tx.run(
      'delete from policy_exception where organization_id = $1 and request_id = $2',
      ofRequest,
    )
    const cases = await tx.run('delete from policy_case where organization_id = $1 and request_id = $2', ofRequest)
    const texts = await tx.run(
      `delete from audit_content where organization_id = $1 and sequence in (
         select sequence from audit_event
         where organization_id = $1 and request_id = $2 and code >= 'gateway.' and code < 'gateway/')`,
      ofRequest,
    )
    const sampled = await tx.run('delete from replay_sample where organization_id = $1 and request_id = $2', ofRequest)
    const notes = await eraseNotes(tx, organizationId, { column: 'request_id', id: requestId })
    return exceptions + cases + texts + sampled + notes
  },
})
