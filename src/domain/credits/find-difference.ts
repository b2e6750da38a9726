import type { CreditAccount } from '../limits/admission.ts'
import type { LimitStore } from '../limits/store.ts'
import type { LedgerStore } from './ledger-store.ts'

export type ReconcileParts = {
  readonly ledger: Pick<LedgerStore, 'drift' | 'settledOf'>
  readonly limits: Pick<LimitStore, 'accounts' | 'close'>
}

/** What does not add up, in words, and whether it lets an organization spend what it does not have. */
export type LedgerDifference = { readonly says: string; readonly isOverspending: boolean }

/** Undefined where everything adds up, or where it moves too fast to tell. */
export async function findDifference(
  parts: ReconcileParts,
  organization: string,
): Promise<LedgerDifference | undefined> {
  const drift = await parts.ledger.drift(organization)
  if (drift !== 0)
    return { says: `its account holds ${drift} micro-credits more than its slices`, isOverspending: true }
  const accounts = await parts.limits.accounts(organization)
  const differences = await Promise.all(accounts.map((account) => differenceOf(parts, account)))
  const isStill = JSON.stringify(accounts) === JSON.stringify(await parts.limits.accounts(organization))
  if (!isStill) return undefined
  return differences.find((one) => one?.isOverspending) ?? differences.find((one) => one !== undefined)
}

/** What was handed to the counters is left there, held for a request that runs, or spent by one that is over. */
async function differenceOf(
  { ledger, limits }: ReconcileParts,
  { slice, holds }: CreditAccount,
): Promise<LedgerDifference | undefined> {
  if (slice === null) return undefined
  const own = holds.filter(({ sliceId }) => sliceId === slice.sliceId)
  const known = await ledger.settledOf(
    slice.sliceId,
    own.map(({ requestId }) => requestId),
  )
  if (known?.state !== 'open') await limits.close(slice)
  if (known === undefined || known.state === 'closed') return undefined
  const held = own.reduce((sum, { micro }) => sum + (micro ?? 0), 0)
  const unknown = slice.amountMicro - slice.leftMicro - held - known.micro
  if (unknown === 0) return undefined
  const counters = `the counters of ${slice.sliceId}`
  // What the ledger does not know of yet may wait on the disk of a node that cannot reach it.
  return unknown > 0
    ? { says: `${counters} have spent ${unknown} micro-credits that are not in the ledger`, isOverspending: false }
    : { says: `${counters} know of ${-unknown} micro-credits less than the ledger`, isOverspending: true }
}
