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
/** The maximum age of a cached balance while the ledger is unreachable. */
const staleMs = 5_000
const maxCached = 10_000

/** Reads of the balance have limits of their own, and are counted separately. */
export function createReadBalance({ ledger, limits, clock }: ReadBalanceParts): ReadBalance {
  const cache = new Map<string, { readonly balance: Balance; readonly atMs: number }>()

  return async (principal) => {
    const { id } = principal.organization
    const subject = { ...subjectOf(principal), organization: `${id}:credits` }
    const result = await limits.admit({ ...subject, limits: readLimits, mode: 'count' })
    if (!result.admitted && result.reason !== 'credits') throw overLimit(result, result.reason)
    const atMs = clock.monotonicMs()
    try {
      const balance = (await ledger.balance(id)) ?? noBalance
      if (cache.size >= maxCached) cache.clear()
      cache.set(id, { balance, atMs })
      return balance
    } catch (error) {
      const cached = cache.get(id)
      if (cached !== undefined && clock.monotonicMs() - cached.atMs <= staleMs) return cached.balance
      throw isFault(error) && error.kind === 'unavailable' ? creditsUnavailable(error) : error
    }
  }
}
