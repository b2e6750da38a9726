import type { Ids } from '../../../../base/ids.ts'
import type { Charge } from '../../../../domain/credits/charge.ts'
import type { Settled } from '../../../../domain/credits/ledger-store.ts'
import { entryOfCharge } from '../../../../domain/rollup/entry.ts'
import { createBulkInsert } from '../bulk-insert.ts'
import { DatabaseError, UnexpectedRows, type Database, type Statement, type Value } from '../database.ts'
import { deltaInsertions, type NewDelta } from '../rollup/deltas.ts'
import { writeRepeatedCharges } from './repeated-charges.ts'
import { chargeColumns, chargeValues, type Attempt } from './rows.ts'

/**
 * Writes charges as one transaction. The embedded engine first assumes that all charges are new and their slices open, which
 * is nearly always true. Otherwise the transaction is rolled back, and `writeRepeatedCharges` is used. PostgreSQL always uses
 * that, because it needs no result before the commit.
 */
export async function writeCharges(database: Database, ids: Ids, charges: readonly Charge[]): Promise<Settled[]> {
  const attempts = charges.map((charge): Attempt => ({ charge, id: ids('cre') }))
  const isPaid = charges.some(({ micro }) => micro > 0)
  const settled = database.engine === 'sqlite' && isPaid ? await writeNewCharges(database, attempts) : undefined
  return settled ?? (await writeRepeatedCharges(database, attempts))
}

const insertCharges = createBulkInsert({ table: 'charge', columns: chargeColumns })

const insertEntries = createBulkInsert({
  table: 'credit_entry',
  columns: ['organization_id', 'id', 'at', 'kind', 'from_account', 'to_account', 'micro', 'slice_id', 'ref', 'note'],
})

const entryValues = ({ charge, id }: Attempt): Value[] => {
  const { organizationId, atMs, micro, sliceId, requestId, outcome } = charge
  return [organizationId, id, atMs, 'usage', 'held', 'spent', micro, sliceId, requestId, outcome]
}

const useSlice = `update credit_slice set settled = settled + $2 where id = $1 and state <> 'closed' returning state`

const useAccount = `update credit_account set spent = spent + $2, held = held - $2 where organization_id = $1
  returning granted - spent as remaining`

/** Undefined if a charge already exists or its slice is closed. Then nothing is written. */
async function writeNewCharges(database: Database, attempts: readonly Attempt[]): Promise<Settled[] | undefined> {
  const charges = attempts.map(({ charge }) => charge)
  const paid = attempts.filter(({ charge }) => charge.micro > 0)
  const slices = sumBy(charges, ({ sliceId }) => sliceId)
  const accounts = sumBy(charges, ({ organizationId }) => organizationId)
  const updates = [...statementsFor(useSlice, slices), ...statementsFor(useAccount, accounts)]
  const inserts = [
    ...insertCharges(attempts.map(chargeValues)),
    ...insertEntries(paid.map(entryValues)),
    ...deltaInsertions(attempts.map(deltaOf)),
  ]
  try {
    const results = await database.write([...inserts, ...updates])
    const answers = results.slice(-updates.length).map(({ rows }) => rows[0])
    const states = new Map([...slices.keys()].map((id, at) => [id, answers[at]?.['state']]))
    const remaining = new Map([...accounts.keys()].map((id, at) => [id, answers[slices.size + at]?.['remaining']]))
    return charges.map(({ outcome, micro, sliceId, organizationId }) => ({
      outcome,
      micro,
      isFirst: true,
      isSliceOpen: states.get(sliceId ?? '') === 'open',
      remainingMicro: Number(remaining.get(organizationId)),
    }))
  } catch (error) {
    if (error instanceof UnexpectedRows || isRepeat(error)) return undefined
    throw error
  }
}

const deltaOf = ({ charge, id }: Attempt): NewDelta => ({
  organizationId: charge.organizationId,
  id,
  entry: entryOfCharge(charge),
})

const isRepeat = (error: unknown): boolean => error instanceof DatabaseError && error.reason === 'unique'

const statementsFor = (sql: string, sums: ReadonlyMap<string, number>): Statement[] =>
  Array.from(sums, ([id, micro]) => ({ sql, params: [id, micro], expect: 1 }))

/** The sum of the charges by name; charges without a name are skipped. */
function sumBy(charges: readonly Charge[], nameOf: (charge: Charge) => string | null): Map<string, number> {
  const sums = new Map<string, number>()
  for (const charge of charges) {
    const name = nameOf(charge)
    if (name !== null) sums.set(name, (sums.get(name) ?? 0) + charge.micro)
  }
  return sums
}
