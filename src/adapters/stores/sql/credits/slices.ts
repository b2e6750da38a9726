import type { LedgerStore, NewSlice, Slice, SliceRequest } from '../../../../domain/credits/ledger-store.ts'
import type { Database, Transaction } from '../database.ts'
import { lockAccount, insertLedgerEntry, type LedgerEntryParts } from './ledger-entries.ts'
import { sliceColumns, sliceOf, stateOf, type SliceRow } from './rows.ts'

/** A slice also gets this fraction of the balance, so that the next requests need no top-up. */
const aheadShare = 20

type SliceStore = Pick<
  LedgerStore,
  'openSlice' | 'topUpSlice' | 'retireSlice' | 'closeSlice' | 'liveSlices' | 'settledOf' | 'drift'
>

/** Slices in SQL. Besides grants, only they change an organization's balance. */
export function sliceStore(database: Database, parts: LedgerEntryParts): SliceStore {
  return {
    openSlice: ({ organizationId, ...newSlice }, request) =>
      database.transaction(async (tx) => {
        await lockAccount(tx, database.engine, organizationId)
        const existing = await findOpen(tx, organizationId, newSlice.epoch)
        if (existing) return { result: 'exists', slice: existing }
        const availableMicro = await readAvailable(tx, organizationId)
        if (availableMicro < request.leastMicro) return { result: 'insufficient', availableMicro }
        const amountMicro = share(availableMicro, request)
        const slice = await insert(tx, parts, { ...newSlice, organizationId, amountMicro })
        await hold(tx, slice, { micro: amountMicro, note: 'opened' })
        return { result: 'opened', slice }
      }),

    topUpSlice: (id, request) =>
      database.transaction(async (tx) => {
        const slice = await lockSlice(tx, id)
        if (slice?.state !== 'open') return { result: 'retired' }
        const availableMicro = await readAvailable(tx, slice.organizationId)
        const takenMicro = availableMicro < request.leastMicro ? 0 : share(availableMicro, request)
        const amountMicro = slice.amountMicro + takenMicro
        await tx.run('update credit_slice set amount = $2 where id = $1', [id, amountMicro])
        await hold(tx, slice, { micro: takenMicro, note: 'raised' })
        return {
          result: 'topped-up',
          slice: { ...slice, amountMicro },
          takenMicro,
          availableMicro: availableMicro - takenMicro,
        }
      }),

    async retireSlice(id) {
      const sql = `update credit_slice set state = 'closing', closing_at = $2 where id = $1 and state = 'open'`
      await database.write([{ sql, params: [id, parts.clock.nowMs()] }])
    },

    closeSlice: (id) =>
      database.transaction(async (tx) => {
        const slice = await lockSlice(tx, id)
        if (slice === undefined || slice.state === 'closed') return
        await tx.run(`update credit_slice set state = 'closed' where id = $1`, [id])
        await releaseRemainder(tx, slice)
      }),

    async liveSlices() {
      const sql = `select ${sliceColumns} from credit_slice where state <> 'closed' order by organization_id, id`
      return (await database.read<SliceRow>(sql)).map(sliceOf)
    },
    async settledOf(id, except) {
      const parameters = except.map((_, at) => `$${at + 2}`).join(', ') || 'null'
      // Joined by request id, because a slice has far more entries.
      const sql = `select s.state, cast(s.settled - coalesce((select sum(e.micro) from charge c
          join credit_entry e on e.organization_id = c.organization_id and e.id = c.id
          where c.request_id in (${parameters}) and e.slice_id = s.id), 0) as bigint) as micro
        from credit_slice s where s.id = $1`
      const [row] = await database.read<{ state: string; micro: number }>(sql, [id, ...except])
      return row && { state: stateOf(row.state), micro: row.micro }
    },

    async drift(organizationId) {
      const sql = `select cast(a.held - coalesce((select sum(s.amount - s.settled) from credit_slice s
          where s.organization_id = a.organization_id and s.state <> 'closed'), 0) as bigint) as drift
        from credit_account a where a.organization_id = $1`
      const [row] = await database.read<{ drift: number }>(sql, [organizationId])
      return row?.drift ?? 0
    },
  }

  async function lockSlice(tx: Transaction, id: string): Promise<Slice | undefined> {
    const sql = `select ${sliceColumns} from credit_slice where id = $1`
    const [unlocked] = await tx.query<SliceRow>(sql, [id])
    if (unlocked === undefined) return undefined
    await lockAccount(tx, database.engine, unlocked.organization_id)
    const [row] = await tx.query<SliceRow>(sql, [id])
    return row && sliceOf(row)
  }

  async function hold(tx: Transaction, slice: Slice, { micro, note }: { micro: number; note: string }): Promise<void> {
    if (micro > 0) await insertLedgerEntry(tx, parts, { ...named(slice), from: 'available', to: 'held', micro, note })
  }

  /** Returns the unspent credits to the balance. If the slice was overspent, the balance pays the difference. */
  async function releaseRemainder(tx: Transaction, slice: Slice): Promise<void> {
    const rest = slice.amountMicro - slice.settledMicro
    const note = 'closed'
    if (rest > 0)
      await insertLedgerEntry(tx, parts, { ...named(slice), from: 'held', to: 'available', micro: rest, note })
    if (rest < 0)
      await insertLedgerEntry(tx, parts, { ...named(slice), from: 'available', to: 'held', micro: -rest, note })
  }
}

const named = ({ id, organizationId }: Slice) => ({ organizationId, kind: 'slice', sliceId: id, ref: id }) as const

const share = (availableMicro: number, { wantedMicro }: SliceRequest): number =>
  Math.min(availableMicro, wantedMicro + Math.floor(availableMicro / aheadShare))

async function findOpen(tx: Transaction, organizationId: string, epoch: string): Promise<Slice | undefined> {
  const sql = `select ${sliceColumns} from credit_slice where organization_id = $1 and epoch = $2 and state = 'open'`
  const [row] = await tx.query<SliceRow>(sql, [organizationId, epoch])
  return row && sliceOf(row)
}

async function readAvailable(tx: Transaction, organizationId: string): Promise<number> {
  const sql = 'select available from credit_account where organization_id = $1'
  const [row] = await tx.query<{ available: number }>(sql, [organizationId])
  return row?.available ?? 0
}

async function insert(
  tx: Transaction,
  { clock }: LedgerEntryParts,
  { id, organizationId, holder, epoch, amountMicro }: NewSlice & Pick<Slice, 'amountMicro'>,
): Promise<Slice> {
  await tx.run(
    `insert into credit_slice (id, organization_id, holder, epoch, amount, settled, state, opened_at)
     values ($1, $2, $3, $4, $5, 0, 'open', $6)`,
    [id, organizationId, holder, epoch, amountMicro, clock.nowMs()],
  )
  return { id, organizationId, holder, epoch, amountMicro, settledMicro: 0, state: 'open', closingAtMs: null }
}
