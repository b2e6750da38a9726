import type { Clock } from '../../base/clock.ts'
import { isFault } from '../../base/fault.ts'
import { noBalance, type Balance, type LedgerStore } from '../../domain/credits/ledger-store.ts'
import type { Principal } from '../../domain/identity/principal.ts'
import type { LimitStore } from '../../domain/limits/store.ts'
import { creditsUnavailable } from './limit-faults.ts'
import { createReadLimit } from './read-limit.ts'

export type ReadBalanceParts = {
  readonly ledger: Pick<LedgerStore, 'balance'>
  readonly limits: Pick<LimitStore, 'admit'>
  readonly clock: Clock
}

export type ReadBalance = (principal: Principal) => Promise<Balance>

const readLimit = { name: 'credits', perKey: 60, perOrganization: 300 }
/** The maximum age of a cached balance while the ledger is unreachable. */
const staleMs = 5_000
const maxCached = 10_000

/** Reads of the balance have limits of their own. */
export function createReadBalance({ ledger, limits, clock }: ReadBalanceParts): ReadBalance {
  const admitRead = createReadLimit(limits, readLimit)
  const cache = new Map<string, { readonly balance: Balance; readonly atMs: number }>()

  return async (principal) => {
    const { id } = principal.organization
    await admitRead(principal)
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
