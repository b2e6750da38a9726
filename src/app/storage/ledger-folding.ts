import { dayMs, type Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Database } from '../../adapters/stores/sql/database.ts'
import { ledgerBalances, type LedgerBalanceStore } from '../../adapters/stores/sql/credits/ledger-balances.ts'
import { hasUnfolded, removeFolded, removeUnpaid } from '../../adapters/stores/sql/credits/remove-folded.ts'
import { settledAfterMs } from '../../adapters/stores/sql/credits/verification/verify-ledger.ts'
import type { VerificationThreads } from '../../adapters/stores/sql/verification/threads.ts'
import { lastMonthBefore, type Month } from '../../domain/credits/month.ts'
import type { Infrastructure } from '../infrastructure.ts'
import { createStoredEncryptions } from './secret-rotation.ts'

export type FoldingParts = {
  readonly database: Database
  readonly balances: LedgerBalanceStore
  readonly verification: Pick<VerificationThreads, 'run'>
  readonly clock: Clock
  readonly keepMs: number
  readonly log: Pick<Log, 'info' | 'error'>
}

const pauseMs = 20

/** Starts the job, if the configuration limits how long charges are kept. */
export function openLedgerFolding(parts: Infrastructure): void {
  const { built, jobs, config, database, keyring, random } = parts
  const { retention_days: days } = config.credits
  if (days === undefined) return
  // The receipts of events that are kept stay.
  const keepMs = Math.max(days, config.audit.retention_days) * dayMs
  const balances = ledgerBalances(database, createStoredEncryptions(keyring, random).ledgerBalances)
  built.use(jobs.start('fold-ledger', () => foldLedger({ ...parts, balances, keepMs })))
}

/**
 * Replaces the charges and entries of months that were kept long enough by a balance. The whole ledger is verified first: what is
 * removed cannot be verified again.
 */
export async function foldLedger(parts: FoldingParts): Promise<void> {
  const { database, clock, keepMs, log } = parts
  const month = lastMonthBefore(clock.nowMs() - keepMs)
  if (await hasUnfolded(database, month)) await saveBalances(parts, month)
  const { balances } = await parts.balances.read()
  const pause = (): Promise<void> => new Promise((resolve) => clock.after(pauseMs, resolve))
  for (const balance of balances.values()) {
    const removed = await removeFolded(database, balance, pause)
    if (removed > 0)
      log.info({ organization_id: balance.organizationId, charges: removed }, 'charges were folded into a balance')
  }
  await removeUnpaid(database, month.endMs, pause)
}

async function saveBalances(parts: FoldingParts, month: Month): Promise<void> {
  const { database, verification, balances, log } = parts
  const { endMs } = month
  const input = { nowMs: endMs + settledAfterMs, checkpoints: new Map(), ...(await balances.read()) }
  const { verification: found, checkpoints } = await verification.run('ledger', input)
  if (found.broken === null) return await balances.save(month.month, checkpoints)
  // Another node has saved this month meanwhile, and removes entries that were verified here.
  if (!(await hasUnfolded(database, month))) return
  const { table, id } = found.broken
  log.error({ table, id }, 'the ledger is inconsistent, so its older charges stay; run gatehouse ledger verify')
}
