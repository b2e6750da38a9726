import { afterIo } from '../../../../base/after-io.ts'
import type {
  LedgerBalances,
  LedgerCheckpoint,
  LedgerProgress,
} from '../../../../domain/credits/ledger-verification.ts'
import {
  verifyLog,
  type LogReport,
  type VerifyParts,
  type VerifyProgress,
} from '../../../../domain/audit/verify-log.ts'
import type { DatabaseError } from '../database.ts'
import { auditReads } from '../audit/events.ts'
import { verifyLedger, type VerifiedLedger } from '../credits/verification/verify-ledger.ts'
import type { ReadSource, Reader } from './reader.ts'

/** The verifications that a thread can run: what each needs, reports and returns. Only data crosses the threads. */
export type VerificationJobs = {
  readonly auditLog: {
    readonly input: Omit<VerifyParts, 'onChecked'> & { readonly organizationId: string }
    readonly progress: VerifyProgress
    readonly result: LogReport
  }
  readonly ledger: {
    readonly input: LedgerBalances & {
      readonly nowMs: number
      readonly checkpoints: ReadonlyMap<string, LedgerCheckpoint>
    }
    readonly progress: LedgerProgress
    readonly result: VerifiedLedger
  }
}

export type VerificationKind = keyof VerificationJobs

/** What the thread is started with. */
export type VerificationJob = {
  [Kind in VerificationKind]: {
    readonly kind: Kind
    readonly source: ReadSource
    readonly input: VerificationJobs[Kind]['input']
  }
}[VerificationKind]

/** What the thread sends: progress any number of times, then one of the others. */
export type ThreadMessage =
  | { readonly progress: unknown }
  | { readonly result: unknown }
  | { readonly error: { readonly reason: DatabaseError['reason'] | undefined; readonly message: string } }

/** Runs a verification. Between two pages it lets the event loop run, so that its messages are sent. */
export function runVerification(reader: Reader, job: VerificationJob, report: (progress: unknown) => void) {
  const onProgress = async (progress: unknown): Promise<void> => {
    report(progress)
    await afterIo()
  }
  if (job.kind === 'ledger') return verifyLedger(reader, { ...job.input, engine: job.source.engine, onProgress })
  const { organizationId, ...input } = job.input
  return verifyLog(auditReads(reader), organizationId, { ...input, onChecked: onProgress })
}
