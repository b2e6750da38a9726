import type { SignedCheckpoint } from './checkpoint.ts'
import type { AuditDocument } from '../event/document.ts'
import type { EventFacts } from '../event/facts.ts'

export const checkpointCode = 'audit.checkpoint'

/** The event that carries a checkpoint to every sink. */
export const checkpointFacts = (organizationId: string, checkpoint: SignedCheckpoint): EventFacts => ({
  code: checkpointCode,
  organizationId,
  timeMs: checkpoint.time,
  message: `Signed the audit log up to event ${checkpoint.sequence}.`,
  details: { checkpoint },
})

/** The event behind a checkpoint that was signed late. */
export const lateFacts = (
  organizationId: string,
  { time }: SignedCheckpoint,
  { from, to }: { readonly from: number; readonly to: number },
): EventFacts => ({
  code: 'audit.signed_late',
  organizationId,
  timeMs: time,
  message: `Signed events ${from} to ${to} late: no running service signed them in time, so nothing proves that they were not changed before.`,
  details: { from, to },
})

/** The checkpoint that an event carries, to verify a destination's copy. */
export function checkpointIn({ unmapped }: AuditDocument): SignedCheckpoint | undefined {
  const { checkpoint } = unmapped.gatehouse
  return isSignedCheckpoint(checkpoint) ? checkpoint : undefined
}

const textFields = ['chain_uid', 'fingerprint', 'key_id', 'signature']
const numberFields = ['sequence', 'count', 'time']

export function isSignedCheckpoint(value: unknown): value is SignedCheckpoint {
  if (typeof value !== 'object' || value === null) return false
  const fields = new Map<string, unknown>(Object.entries(value))
  return (
    textFields.every((name) => typeof fields.get(name) === 'string') &&
    numberFields.every((name) => Number.isSafeInteger(fields.get(name)))
  )
}
