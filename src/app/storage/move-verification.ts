import { auditReads } from '../../adapters/stores/sql/audit/events.ts'
import { ledgerBalances } from '../../adapters/stores/sql/credits/ledger-balances.ts'
import type { Database } from '../../adapters/stores/sql/database.ts'
import { createVerificationThreads } from '../../adapters/stores/sql/verification/threads.ts'
import { systemClock as clock } from '../../base/clock.ts'
import { createIds } from '../../base/ids.ts'
import { systemRandom as random } from '../../base/random.ts'
import type { LogReport } from '../../domain/audit/verify-log.ts'
import type { LedgerVerification } from '../../domain/credits/ledger-verification.ts'
import type { Keyring } from '../../domain/server-secret/keyring.ts'
import { presentLogReport } from '../../http/operator/audit-log.ts'
import { createAuditParts } from '../audit-parts.ts'
import type { LogReportBody } from '../audit-verification.ts'
import { createAuditVerifier } from '../audit-verifier.ts'
import { createStoredEncryptions } from './secret-rotation.ts'

export type MoveVerification = {
  readonly ledger: LedgerVerification
  /** Audit logs that were verified, and their events. */
  readonly auditLogs: number
  readonly events: number
  /** Reports about the audit logs that are broken. */
  readonly brokenLogs: readonly LogReportBody[]
}

type VerificationParts = {
  readonly database: Database
  readonly url: string
  readonly keyring: Keyring
  readonly onEvents: (progress: { readonly events: number; readonly total: number }) => void
}

/** Verifies the ledger and the audit log of every organization in PostgreSQL. */
export async function verifyMoved({ database, url, keyring, onEvents }: VerificationParts): Promise<MoveVerification> {
  await using threads = createVerificationThreads(database, { engine: 'postgres', url })
  const encryptions = createStoredEncryptions(keyring, random)
  const verifyAuditLog = createAuditVerifier({
    clock,
    stores: {
      audit: createAuditParts({ clock, ids: createIds(clock, random), keyring }),
      auditLog: auditReads({ query: (sql, params) => database.read(sql, params) }),
      encryptions,
    },
    verification: threads,
  })
  const chains = await database.read<Chain>(
    'select organization_id as id, sequence - first_sequence + 1 as count from audit_chain order by organization_id',
  )
  const total = chains.reduce((sum, { count }) => sum + count, 0)
  const brokenLogs: LogReportBody[] = []
  let events = 0
  for (const { id } of chains) {
    const report = await verifyAuditLog(id, {
      onProgress: ({ first, last }) => onEvents({ events: events + last - first + 1, total }),
    })
    events += report.checked
    if (isBroken(report)) brokenLogs.push(presentLogReport(id, report))
  }
  const balances = await ledgerBalances(database, encryptions.ledgerBalances).read()
  const input = { nowMs: clock.nowMs(), checkpoints: new Map(), ...balances }
  const { verification: ledger } = await threads.run('ledger', input)
  return { ledger, auditLogs: chains.length, events, brokenLogs }
}

type Chain = { id: string; count: number }

/** Late and missing signatures do not count: they are older than the move, or the next start signs. */
const isBroken = ({ finding, checkpointFinding, keyFindings }: LogReport): boolean =>
  finding !== undefined ||
  checkpointFinding !== undefined ||
  keyFindings.some(({ reason, from }) => reason === 'replaced' || from !== undefined)
