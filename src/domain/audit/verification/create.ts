import type { Clock } from '../../../base/clock.ts'
import { Fault } from '../../../base/fault.ts'
import type { Ids } from '../../../base/ids.ts'
import type { WithAuditRecord } from '../../mutations/audit-log.ts'
import type { AuditReads } from '../log.ts'
import type { VerifyRange } from '../verify-log.ts'
import type { Verification, VerificationStore } from './verification.ts'

export type VerificationStores = {
  readonly events: Pick<AuditReads, 'fingerprints'>
  readonly verifications: VerificationStore
}

export type VerificationAdministration = ReturnType<typeof createVerificationAdministration>

/** Starts and reads verifications of the log. */
export function createVerificationAdministration({ ids, clock }: { readonly ids: Ids; readonly clock: Clock }) {
  return {
    /** Returns the running verification if there is one: two at a time would only read the same log twice. */
    async start(
      { events, verifications }: VerificationStores,
      organizationId: string,
      { from, to }: VerifyRange,
    ): Promise<WithAuditRecord<Verification>> {
      const { first, last } = await events.fingerprints(organizationId, { after: 0, last: 0 })
      const start = Math.max(from ?? first, first)
      const end = Math.min(to ?? last, last)
      if (from !== undefined && to !== undefined && from > to) throw invalid('from', 'must not be greater than to')
      if (start > end)
        throw invalid(end < first ? 'to' : 'from', `must be in the log, which has the events ${first} to ${last}`)
      const nowMs = clock.nowMs()
      const verification: Verification = {
        id: ids('aver'),
        organizationId,
        state: 'running',
        from: from ?? null,
        to: to ?? null,
        checked: 0,
        total: end - start + 1,
        cursor: null,
        result: null,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      }
      if (await verifications.insert(verification))
        return {
          value: verification,
          record: { kind: 'audit_verification.created', resourceId: verification.id, details: { from, to } },
        }
      const running = await verifications.findRunning(organizationId)
      if (running) return { value: running }
      throw new Fault('conflict', 'invalid_state', 'A verification has just ended; start it again.')
    },

    async find({ verifications }: VerificationStores, organizationId: string, id: string): Promise<Verification> {
      const verification = await verifications.find(organizationId, id)
      if (verification) return verification
      throw new Fault('not_found', 'not_found', `There is no verification ${id} of the audit log.`)
    },
  }
}

const invalid = (param: 'from' | 'to', problem: string): Fault =>
  new Fault('validation', 'invalid_parameter', `${param}: ${problem}.`, { param })
