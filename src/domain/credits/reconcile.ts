import type { CreditAccount } from '../limits/admission.ts'
import type { LimitStore } from '../limits/store.ts'
import type { LedgerStore } from './ledger-store.ts'

export type ReconcileParts = {
  readonly ledger: Pick<LedgerStore, 'drift' | 'settledOf'>
  readonly limits: Pick<LimitStore, 'accounts' | 'close'>
}

/** What does not add up for an organization, in words; undefined where all does, or where it moves too fast to tell. */
export async function findDifference(parts: ReconcileParts, organization: string): Promise<string | undefined> {
  const drift = await parts.ledger.drift(organization)
  if (drift !== 0) return `its account holds ${drift} micro-credits more than its slices`
  const accounts = await parts.limits.accounts(organization)
  const differences = await Promise.all(accounts.map((account) => differenceOf(parts, account)))
  const isStill = JSON.stringify(accounts) === JSON.stringify(await parts.limits.accounts(organization))
  return isStill ? differences.find((difference) => difference !== undefined) : undefined
}

/** What was handed to the counters is left there, held for a request that runs, or spent by one that is over. */
async function differenceOf(
  { ledger, limits }: ReconcileParts,
  { slice, holds }: CreditAccount,
): Promise<string | undefined> {
  if (slice === null) return undefined
  const own = holds.filter(({ sliceId }) => sliceId === slice.sliceId)
  const known = await ledger.settledOf(
    slice.sliceId,
    own.map(({ requestId }) => requestId),
  )
  if (known?.state !== 'open') await limits.close(slice)
  if (known === undefined || known.state === 'closed') return undefined
  const held = own.reduce((sum, { micro }) => sum + (micro ?? 0), 0)
  const difference = slice.amountMicro - slice.leftMicro - held - known.micro
  return difference === 0 ? undefined : `the counters of ${slice.sliceId} are ${difference} micro-credits off`
}
