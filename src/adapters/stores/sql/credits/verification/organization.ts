import { dayMs } from '../../../../../base/clock.ts'
import { lowestIdAt } from '../../../../../base/ids.ts'
import type { LedgerCheckpoint, SliceSums } from '../../../../../domain/credits/ledger-verification.ts'
import type { Transaction } from '../../database.ts'
import type { SnapshotReads } from '../../snapshot-reads.ts'
import type { AccountRow } from '../rows.ts'
import { checkCharges, rowsPerPage, type OnPage } from './charges.ts'
import { addEntries, noEntries, type EntrySums } from './entries.ts'
import type { LedgerCheck, LedgerFindings } from './findings.ts'

export type OrganizationCheck = {
  /** The time before which no further entry is expected. */
  readonly settledMs: number
  /** Where to continue, after the balance; undefined to read everything. */
  readonly since: LedgerCheckpoint | undefined
  /** Where the entries begin; undefined if none were removed. */
  readonly balance: LedgerCheckpoint | undefined
  readonly findings: LedgerFindings
  readonly onPage: OnPage
}

export type CheckedOrganization = {
  readonly hasAccount: boolean
  readonly charges: number
  readonly entries: number
  readonly slices: number
  readonly isContinued: boolean
  /** Undefined if no entry is old enough. */
  readonly checkpoint: LedgerCheckpoint | undefined
}

/** Charges may be written this long after their time, when they were spooled. */
const spooledMs = dayMs

/**
 * Verifies one organization. Older entries no longer change and are read page by page, so that the snapshot, which delays the
 * cleanup of old row versions, is short. If the sums differ then, an entry was written late or the ledger is inconsistent:
 * everything is read again in one snapshot, which decides.
 */
export async function verifyOrganization(
  reads: SnapshotReads,
  organizationId: string,
  { settledMs, since, balance, findings, onPage }: OrganizationCheck,
): Promise<CheckedOrganization> {
  let entries = 0
  const onEntries: OnPage = async (rows) => {
    entries += rows
    await onPage(rows)
  }
  const first = since ?? balance
  const fromMs = first ? first.timeMs - spooledMs : 0
  const charges = await checkCharges(reads.query, { organizationId, fromMs, findings, onPage })
  const common = { organizationId, findings, onPage: onEntries }
  const start = first ? sumsOf(first) : noEntries
  const settled = await addEntries(reads.query, { ...common, start, beforeId: lowestIdAt('cre', settledMs) })
  let compared = await reads.snapshot((query) =>
    compareSums(query, { ...common, start: settled, isContinued: first !== undefined }),
  )
  const isRepeated = compared.broken.length > 0 && settled.lastId !== ''
  if (isRepeated) {
    entries = 0
    const again = { ...common, start: balance ? sumsOf(balance) : noEntries, isContinued: balance !== undefined }
    compared = await reads.snapshot((query) => compareSums(query, again))
  }
  for (const check of compared.broken) findings.add(...check)
  const { hasAccount, slices, mayStillChange } = compared
  return {
    hasAccount,
    charges,
    entries,
    slices,
    isContinued: since !== undefined && !isRepeated,
    checkpoint:
      settled.lastId === '' || isRepeated
        ? undefined
        : {
            organizationId,
            lastEntryId: settled.lastId,
            timeMs: settledMs,
            account: settled.account,
            slices: [...settled.slices].filter(([id]) => mayStillChange.has(id)),
          },
  }
}

const sumsOf = ({ lastEntryId, account, slices }: LedgerCheckpoint): EntrySums => ({
  lastId: lastEntryId,
  account,
  slices: new Map(slices),
})

type Comparison = {
  readonly organizationId: string
  readonly start: EntrySums
  readonly isContinued: boolean
  readonly findings: LedgerFindings
  readonly onPage: OnPage
}

type Compared = {
  readonly hasAccount: boolean
  readonly slices: number
  /** Slices that are not closed, or that an entry after `start` changed. */
  readonly mayStillChange: ReadonlySet<string>
  readonly broken: readonly (readonly [LedgerCheck, string])[]
}

async function compareSums(query: Transaction['query'], comparison: Comparison): Promise<Compared> {
  const { organizationId, start } = comparison
  const sums = await addEntries(query, comparison)
  const broken: (readonly [LedgerCheck, string])[] = []
  const changed = [...sums.slices].filter(([id, slice]) => slice !== start.slices.get(id)).map(([id]) => id)
  const mayStillChange = new Set(changed)
  let slices = 0
  for await (const slice of readSlices(query, organizationId)) {
    if (slice.state !== 'closed') mayStillChange.add(slice.id)
    const expected = sums.slices.get(slice.id)
    // A checkpoint has no sums of slices that were closed before it.
    if (comparison.isContinued && slice.state === 'closed' && expected === undefined) continue
    slices += 1
    if (!isSumOf(slice, expected)) broken.push(['slice', slice.id])
  }
  const account = await readAccount(query, organizationId)
  const check = account ? accountCheck(account, sums) : sums.lastId === '' ? undefined : 'accountMissing'
  if (check) broken.push([check, organizationId])
  return { hasAccount: account !== undefined, slices, mayStillChange, broken }
}

const isSumOf = ({ amount, settled, state }: StoredSlice, sums: SliceSums | undefined): boolean =>
  amount === (sums?.amount ?? 0) &&
  settled === (sums?.settled ?? 0) &&
  (sums?.held ?? 0) === (state === 'closed' ? 0 : amount - settled)

function accountCheck(row: AccountRow, { account }: EntrySums): LedgerCheck | undefined {
  const names = ['granted', 'available', 'held', 'spent'] as const
  if (names.some((name) => row[name] !== account[name])) return 'account'
  return row.granted === row.available + row.held + row.spent ? undefined : 'balance'
}

async function readAccount(query: Transaction['query'], organizationId: string): Promise<AccountRow | undefined> {
  const sql = 'select granted, available, held, spent from credit_account where organization_id = $1'
  const [row] = await query<AccountRow>(sql, [organizationId])
  return row
}

type StoredSlice = { id: string; amount: number; settled: number; state: string }

async function* readSlices(query: Transaction['query'], organizationId: string): AsyncGenerator<StoredSlice> {
  const sql = `select id, amount, settled, state from credit_slice where organization_id = $1 and id > $2
    order by id limit ${rowsPerPage}`
  for (let last = ''; ;) {
    const page = await query<StoredSlice>(sql, [organizationId, last])
    yield* page
    const end = page.at(-1)
    if (!end || page.length < rowsPerPage) return
    last = end.id
  }
}
