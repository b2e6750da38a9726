import { releaseVerificationLeases, verificationQueue } from '../../adapters/stores/sql/audit/verifications.ts'
import { createVerificationRunner } from '../../domain/audit/verification/runner.ts'
import { createAuditVerifier } from '../audit-verifier.ts'
import type { Infrastructure } from '../infrastructure.ts'
import type { Stores } from '../stores.ts'

const verificationLeaseMs = 60_000

/** Runs the verifications that administrators start, until the app is closed. */
export function openVerifications(infrastructure: Infrastructure, stores: Stores, opened: AsyncDisposableStack): void {
  const { database, clock, ids, jobs, warn, verification } = infrastructure
  if (database.engine === 'sqlite') {
    void releaseVerificationLeases(database).catch(
      warn('the lease of a verification could not be released; it waits for a minute'),
    )
  }
  const runner = opened.use(
    createVerificationRunner({
      queue: verificationQueue({ database, clock, owner: ids('node'), leaseMs: verificationLeaseMs }),
      verify: createAuditVerifier({ clock, stores, verification }),
      clock,
      onError: warn('a verification of the audit log failed'),
    }),
  )
  opened.use(jobs.start('verify-audit-logs', runner.run))
}
