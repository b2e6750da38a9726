import type { WithAuditRecord } from '../../mutations/audit-log.ts'
import type { AuditTexts } from '../log.ts'

/** Erases the texts that are stored with the events of a request. The events stay. The value counts erased texts. */
export async function eraseTexts(
  texts: AuditTexts,
  organizationId: string,
  requestId: string,
): Promise<WithAuditRecord<number>> {
  const erased = await texts.erase(organizationId, requestId)
  if (erased === 0) return { value: 0 }
  return { value: erased, record: { kind: 'audit_texts.erased', resourceId: requestId, details: { erased } } }
}
