import type {
  LedgerStore,
  NewSlice,
  OpenedSlice,
  Slice,
  SliceRequest,
  ToppedUpSlice,
} from '../../../../domain/credits/ledger-store.ts'
import type { Database, Unguarded } from '../database.ts'
import { ledgerEntry, lockAccount, type LedgerEntryParts } from './ledger-entries.ts'
import { accountLockOfSlice, sliceColumns, sliceOf, stateOf, type SliceRow } from './rows.ts'

/** A slice also gets this fraction of the balance, so that the next requests need no top-up. */
const aheadShare = 20

type SliceStore = Pick<
  LedgerStore,
  'openSlice' | 'topUpSlice' | 'retireSlice' | 'closeSlice' | 'liveSlices' | 'settledOf' | 'drift'
>

/**
 * Slices in SQL. Besides grants, only they change an organization's balance. Each change is one step of two round trips, because all
 * nodes wait for the lock of the account.
 */
export function sliceStore(database: Database, parts: LedgerEntryParts): SliceStore {
  return {
    openSlice({ organizationId, ...newSlice }, request) {
      const sql = `select a.available, ${sliceColumnsOf('s')} from credit_account a left join credit_slice s
        on s.organization_id = a.organization_id and s.epoch = $2 and s.state = 'open' where a.organization_id = $1`
      const first = [...lockAccount(database.engine, organizationId), { sql, params: [organizationId, newSlice.epoch] }]
      return change<OpenedSlice>(first, ({ slice: existing, availableMicro }) => {
        if (existing) return { value: { result: 'exists', slice: existing } }
        if (availableMicro < request.leastMicro) return { value: { result: 'insufficient', availableMicro } }
        const amountMicro = share(availableMicro, request)
        const slice = newlyOpened({ ...newSlice, organizationId, amountMicro })
        return {
          value: { result: 'opened', slice },
          statements: [insertSlice(slice, parts.clock.nowMs()), ...hold(slice, { micro: amountMicro, note: 'opened' })],
        }
      })
    },

    topUpSlice: (id, request) =>
      change<ToppedUpSlice>(lockAndRead(id), ({ slice, availableMicro }) => {
        if (slice?.state !== 'open') return { value: { result: 'retired' } }
        const takenMicro = availableMicro < request.leastMicro ? 0 : share(availableMicro, request)
        const toppedUp = { ...slice, amountMicro: slice.amountMicro + takenMicro }
        return {
          value: { result: 'topped-up', slice: toppedUp, takenMicro, availableMicro: availableMicro - takenMicro },
          statements: [
            { sql: 'update credit_slice set amount = $2 where id = $1', params: [id, toppedUp.amountMicro] },
            ...hold(slice, { micro: takenMicro, note: 'raised' }),
          ],
        }
      }),

    async retireSlice(id) {
      const sql = `update credit_slice set state = 'closing', closing_at = $2 where id = $1 and state = 'open'`
      await database.write([{ sql, params: [id, parts.clock.nowMs()] }])
    },

    closeSlice: (id) =>
      change(lockAndRead(id), ({ slice }) => {
        if (slice === undefined || slice.state === 'closed') return { value: undefined }
        const update = { sql: `update credit_slice set state = 'closed' where id = $1`, params: [id] }
        return { value: undefined, statements: [update, ...releaseRemainder(slice)] }
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

  /** Runs `first`, which locks the account and reads it with its slice, and then the statements that `decide` makes of them. */
  async function change<T>(first: readonly Unguarded[], decide: (account: LockedAccount) => Decision<T>): Promise<T> {
    let value: T | undefined
    await database.writeAfter<AccountWithSlice>(first, ([row]) => {
      const slice = row === undefined || row.id === null ? undefined : sliceOf(row)
      const decision = decide({ slice, availableMicro: row?.available ?? 0 })
      value = decision.value
      return decision.statements ?? []
    })
    return value as T
  }

  function lockAndRead(sliceId: string): Unguarded[] {
    const sql = `select a.available, ${sliceColumnsOf('s')} from credit_slice s
      join credit_account a on a.organization_id = s.organization_id where s.id = $1`
    return [...accountLockOfSlice(database.engine, sliceId), { sql, params: [sliceId] }]
  }

  function hold(slice: Slice, { micro, note }: { micro: number; note: string }): readonly Unguarded[] {
    return micro > 0 ? ledgerEntry(parts, { ...named(slice), from: 'available', to: 'held', micro, note }) : []
  }

  /** Returns the unspent credits to the balance. If the slice was overspent, the balance pays the difference. */
  function releaseRemainder(slice: Slice): readonly Unguarded[] {
    const rest = slice.amountMicro - slice.settledMicro
    const note = 'closed'
    if (rest < 0) return hold(slice, { micro: -rest, note })
    if (rest === 0) return []
    return ledgerEntry(parts, { ...named(slice), from: 'held', to: 'available', micro: rest, note })
  }
}

const named = ({ id, organizationId }: Slice) => ({ organizationId, kind: 'slice', sliceId: id, ref: id }) as const

const share = (availableMicro: number, { wantedMicro }: SliceRequest): number =>
  Math.min(availableMicro, wantedMicro + Math.floor(availableMicro / aheadShare))

/** The columns of the slice are null if there is none. */
type AccountWithSlice = { available: number } & (SliceRow | Record<keyof SliceRow, null>)

type LockedAccount = { readonly slice: Slice | undefined; readonly availableMicro: number }

type Decision<T> = { readonly value: T; readonly statements?: readonly Unguarded[] }

const sliceColumnsOf = (table: string): string =>
  sliceColumns
    .split(', ')
    .map((column) => `${table}.${column}`)
    .join(', ')

const newlyOpened = (slice: NewSlice & Pick<Slice, 'amountMicro'>): Slice => ({
  ...slice,
  settledMicro: 0,
  state: 'open',
  closingAtMs: null,
})

const insertSlice = (slice: Slice, nowMs: number): Unguarded => ({
  sql: `insert into credit_slice (id, organization_id, holder, epoch, amount, settled, state, opened_at)
    values ($1, $2, $3, $4, $5, 0, 'open', $6)`,
  params: [slice.id, slice.organizationId, slice.holder, slice.epoch, slice.amountMicro, nowMs],
})
