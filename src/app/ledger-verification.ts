import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiClient } from './client/api-client.ts'
import type { LedgerReportBody, LedgerVerificationBody } from '../http/operator/ledger.ts'

const path = '/operator/ledger/verification'

export type VerifyLedgerInput = {
  readonly isSinceCheckpoint?: boolean
  readonly onProgress?: (verification: LedgerVerificationBody) => void
}

/** Starts a verification of the ledger and waits until it has ended. */
export async function verifyLedger(
  client: ApiClient,
  { isSinceCheckpoint = false, onProgress }: VerifyLedgerInput = {},
): Promise<LedgerReportBody> {
  const body = { since_checkpoint: isSinceCheckpoint }
  let verification = await client.post<LedgerVerificationBody>(path, body)
  for (let waitMs = 20; verification.state === 'running'; waitMs = Math.min(2 * waitMs, 500)) {
    onProgress?.(verification)
    await sleep(waitMs)
    verification = await client.get<LedgerVerificationBody>(path)
  }
  if (verification.report) return verification.report
  throw new Error(`The verification of the ledger failed: ${verification.error}`)
}
