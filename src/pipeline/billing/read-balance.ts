import type { Clock } from '../../base/clock.ts'
import { isFault } from '../../base/fault.ts'
import { noBalance, type Balance, type LedgerStore } from '../../domain/credits/ledger-store.ts'
import type { Principal } from '../../domain/identity/principal.ts'
import { unlimited, type Limits } from '../../domain/limits/scopes.ts'
import type { LimitStore } from '../../domain/limits/store.ts'
import { subjectOf } from './admission.ts'
import { creditsUnavailable, overLimit } from './limit-faults.ts'

export type ReadBalanceParts = {
  readonly ledger: Pick<LedgerStore, 'balance'>
  readonly limits: Pick<LimitStore, 'admit'>
  readonly clock: Clock
}

export type ReadBalance = (principal: Principal) => Promise<Balance>

const readLimits: Limits = {
  key: { ...unlimited, rpm: 60 },
  project: unlimited,
  organization: { ...unlimited, rpm: 300 },
}
/** As old as a balance may be while the ledger is out of reach. */
const staleMs = 5_000
const mostRemembered = 10_000

/** Reads of the balance have limits of their own, and count apart from all else. */
export function createReadBalance({ ledger, limits, clock }: ReadBalanceParts): ReadBalance {
  const last = new Map<string, { readonly balance: Balance; readonly atMs: number }>()

  return async (principal) => {
    const { id } = principal.organization
    const subject = { ...subjectOf(principal), organization: `${id}:credits` }
    const verdict = await limits.admit({ ...subject, limits: readLimits, mode: 'count' })
    if (!verdict.admitted && verdict.reason !== 'credits') throw overLimit(verdict, verdict.reason)
    const atMs = clock.monotonicMs()
    try {
      const balance = (await ledger.balance(id)) ?? noBalance
      if (last.size >= mostRemembered) last.clear()
      last.set(id, { balance, atMs })
      return balance
    } catch (error) {
      const known = last.get(id)
      if (known !== undefined && clock.monotonicMs() - known.atMs <= staleMs) return known.balance
      throw isFault(error) && error.kind === 'unavailable' ? creditsUnavailable(error) : error
    }
  }
}
