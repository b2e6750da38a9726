import { minuteMs } from '../../../../../base/clock.ts'
import {
  noBalances,
  type LedgerBalances,
  type LedgerCheckpoint,
  type LedgerProgress,
  type LedgerVerification,
} from '../../../../../domain/credits/ledger-verification.ts'
import type { Database, Transaction } from '../../database.ts'
import type { SnapshotReads } from '../../snapshot-reads.ts'
import { createLedgerFindings } from './findings.ts'
import { verifyOrganization } from './organization.ts'

export type LedgerVerificationParts = {
  readonly engine: Database['engine']
  readonly nowMs: number
  /** Organizations continue from their checkpoint. Without it, every row is read. */
  readonly checkpoints?: ReadonlyMap<string, LedgerCheckpoint>
  /** Where the entries of an organization begin, if older ones were removed. */
  readonly balances?: LedgerBalances['balances']
  readonly unreadable?: LedgerBalances['unreadable']
  /** Awaited after each page of rows. */
  readonly onProgress?: (progress: LedgerProgress) => Promise<void>
}

export type VerifiedLedger = {
  readonly verification: LedgerVerification
  /** For a later verification to continue from; none if a row is inconsistent. */
  readonly checkpoints: readonly LedgerCheckpoint[]
}

/** The clocks of two nodes differ by less, and a step writes its entries within this time after it created their ids. */
export const settledAfterMs = 10 * minuteMs

/** Recomputes the ledger one organization at a time, in short statements, and names the first inconsistent row. */
export async function verifyLedger(reads: SnapshotReads, parts: LedgerVerificationParts): Promise<VerifiedLedger> {
  const { checkpoints: known = noBalances.balances, balances = noBalances.balances, onProgress } = parts
  const findings = createLedgerFindings()
  for (const organizationId of parts.unreadable ?? []) findings.add('unreadableBalance', organizationId)
  const total = await estimateRows(reads.query, parts.engine)
  let checked = 0
  const onPage = async (rows: number): Promise<void> => {
    checked += rows
    await onProgress?.({ checked, total: Math.max(total, checked) })
  }
  const counts = { organizations: 0, entries: 0, charges: 0, slices: 0, continued: 0 }
  const checkpoints: LedgerCheckpoint[] = []
  for await (const organizationId of readOrganizations(reads.query)) {
    const balance = balances.get(organizationId)
    const since = known.get(organizationId)
    const result = await verifyOrganization(reads, organizationId, {
      settledMs: parts.nowMs - settledAfterMs,
      since: since && since.timeMs >= (balance?.timeMs ?? 0) ? since : undefined,
      balance,
      findings,
      onPage,
    })
    counts.organizations += Number(result.hasAccount)
    counts.entries += result.entries
    counts.charges += result.charges
    counts.slices += result.slices
    counts.continued += Number(result.isContinued)
    if (result.checkpoint) checkpoints.push(result.checkpoint)
  }
  const broken = findings.first()
  return { verification: { ...counts, broken }, checkpoints: broken ? [] : checkpoints }
}

/** PostgreSQL counts a table by reading it, which may take longer than a statement may. */
async function estimateRows(query: Transaction['query'], engine: Database['engine']): Promise<number> {
  const sql =
    engine === 'sqlite'
      ? 'select (select count(*) from charge) + (select count(*) from credit_entry) as total'
      : `select cast(sum(greatest(reltuples, 0)) as bigint) as total from pg_class
         where oid in (to_regclass('charge'), to_regclass('credit_entry'))`
  const [row] = await query<{ total: number }>(sql)
  return row?.total ?? 0
}

const organizationsPerPage = 1_000

async function* readOrganizations(query: Transaction['query']): AsyncGenerator<string> {
  const sql = `select id from organization where id > $1 order by id limit ${organizationsPerPage}`
  for (let last = ''; ;) {
    const page = await query<{ id: string }>(sql, [last])
    for (const { id } of page) yield id
    const end = page.at(-1)
    if (!end || page.length < organizationsPerPage) return
    last = end.id
  }
}
