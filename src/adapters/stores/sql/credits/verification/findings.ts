import type { BrokenRow } from '../../../../../domain/credits/ledger-verification.ts'

/**
 * What can be wrong with a row. Charges and entries are listed before the sums derived from them, so that the first finding is
 * closest to the cause.
 */
const checks = {
  unreadableBalance: {
    table: 'ledger_balance',
    says: 'was not written with this server secret; the entries before it were removed',
  },
  cost: { table: 'charge', says: 'is not its tokens times its rates, rounded up once' },
  chargeWithoutEntry: { table: 'charge', says: 'has no entry' },
  entryWithoutCharge: { table: 'credit_entry', says: 'has no charge of the same amount' },
  entryWithoutSlice: {
    table: 'credit_entry',
    says: 'names no slice although it touches held credits, or one of another organization',
  },
  slice: { table: 'credit_slice', says: 'is not what its entries say' },
  account: { table: 'credit_account', says: 'is not what its entries say' },
  accountMissing: { table: 'credit_account', says: 'is missing for an organization that has entries' },
  balance: { table: 'credit_account', says: 'does not have granted = available + held + spent' },
} as const

export type LedgerCheck = keyof typeof checks

/** Remembers the first inconsistent row of each check. */
export type LedgerFindings = {
  /** Null and undefined mean that nothing was found. */
  add(check: LedgerCheck, id: string | null | undefined): void
  first(): BrokenRow | null
}

export function createLedgerFindings(): LedgerFindings {
  const found = new Map<LedgerCheck, string>()
  return {
    add(check, id) {
      const known = found.get(check)
      if (id != null && (known === undefined || id < known)) found.set(check, id)
    },
    first() {
      const check = (Object.keys(checks) as LedgerCheck[]).find((each) => found.has(each))
      const id = check && found.get(check)
      return id === undefined ? null : { ...checks[check as LedgerCheck], id }
    },
  }
}
