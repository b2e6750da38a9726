import type { AdmissionRequest, BudgetShare, LimitSettlement } from '../admission.ts'
import { countOnly, phaseRange, type BudgetCount, type BudgetDemand, type BudgetRejection } from '../budget-counters.ts'
import type { BudgetCounter, BudgetHold, Tenant, TenantBudgets } from './tenant.ts'

const demandsOf = (request: AdmissionRequest): readonly BudgetDemand[] =>
  request.mode === 'count' ? [] : (request.budgets ?? [])

/** The first budget that rejects the request. Counters that are not open come first, because nothing is known about them. */
export function rejectingBudget(tenant: Tenant, request: AdmissionRequest): Omit<BudgetRejection, 'epoch'> | undefined {
  const demands = demandsOf(request)
  if (demands.length === 0) return undefined
  const share = request.mode === 'count' ? undefined : request.budgetShare
  const closed = demands.findIndex((demand) => openCounter(tenant, demand, share) === undefined)
  if (closed !== -1) return { index: closed, used: null }
  for (const [index, demand] of demands.entries()) {
    const { limit, amount } = demand
    const counter = openCounter(tenant, demand, share)
    if (counter === undefined || limit === countOnly) continue
    const own = counter.settled + counter.held
    const left = Math.floor((limit - counter.base) / (share?.nodes ?? 1))
    if (own + amount > left) return { index, used: counter.base + own }
  }
  return undefined
}

/** Also closes one that is too old for a node that counts apart. */
function openCounter({ budgets, clockMs }: Tenant, demand: BudgetDemand, share: BudgetShare | undefined) {
  const counter = budgets.counters.get(demand.counter)
  const marker = markerOf(budgets, demand)
  if (counter === undefined || !isOpen(counter, marker)) return undefined
  if (share !== undefined && share.nodes > 1 && clockMs - counter.openedAtMs >= share.maxAgeMs) close(counter)
  return isOpen(counter, marker) ? counter : undefined
}

const isOpen = ({ openedIn }: BudgetCounter, marker: number): boolean => openedIn !== undefined && openedIn >= marker

const markerOf = ({ version }: TenantBudgets, { phase }: { readonly phase: number }): number =>
  version * phaseRange + phase

export function holdBudgets({ budgets }: Tenant, request: AdmissionRequest): readonly BudgetHold[] | undefined {
  const demands = demandsOf(request)
  if (demands.length === 0) return undefined
  return demands.flatMap(({ counter: name, amount }) => {
    const counter = budgets.counters.get(name)
    if (counter === undefined) return []
    counter.held += amount
    return [{ counter: name, amount, generation: counter.generation }]
  })
}

/**
 * Releases the holds and adds what was used. If that is unknown, the counters are closed. So is a counter in which the request had no
 * hold: the ledger has its charge, and the counter may have been opened before or after that.
 */
export function settleBudgets(
  { budgets: { counters } }: Tenant,
  holds: readonly BudgetHold[],
  { budgets: uses, isLate = false }: Pick<LimitSettlement, 'budgets' | 'isLate'>,
): void {
  const isKnown = uses !== undefined && !isLate
  const heldIn = new Set<BudgetCounter>()
  for (const { counter: name, amount, generation } of holds) {
    const counter = counters.get(name)
    if (counter === undefined || counter.generation !== generation) continue
    counter.held -= amount
    heldIn.add(counter)
    if (!isKnown) close(counter)
  }
  for (const { counter: name, amount } of uses ?? []) {
    const counter = counters.get(name)
    if (counter === undefined) continue
    if (!isKnown) {
      close(counter)
      continue
    }
    counter.settled += amount
    if (counter.sinceBegin !== undefined) counter.sinceBegin += amount
    if (!heldIn.has(counter)) counter.openedIn = undefined
  }
}

/** Also ends a count, because what it noted is not complete. */
function close(counter: BudgetCounter): void {
  counter.openedIn = undefined
  counter.sinceBegin = undefined
}

export function countBudgets({ budgets }: Tenant, { token, counters }: BudgetCount, nowMs: number): void {
  for (const { counter: name, spent, expiresAtMs, phase } of counters) {
    const counter = budgets.counters.get(name)
    const marker = markerOf(budgets, { phase })
    if (spent === null) {
      if (counter === undefined) budgets.counters.set(name, newCounter(token, marker, expiresAtMs))
      // Another request opened it meanwhile.
      else if (!isOpen(counter, marker)) Object.assign(counter, { sinceBegin: 0, token, beganIn: marker })
    } else if (counter !== undefined && counter.token === token && counter.sinceBegin !== undefined) {
      Object.assign(counter, { base: spent, settled: counter.sinceBegin, sinceBegin: undefined })
      Object.assign(counter, { openedIn: counter.beganIn, openedAtMs: nowMs })
    }
  }
  removeSome(budgets, { count: counters.length + lookedAt, nowMs })
}

const newCounter = (token: number, marker: number, expiresAtMs: number): BudgetCounter => ({
  generation: token,
  base: 0,
  settled: 0,
  held: 0,
  sinceBegin: 0,
  token,
  beganIn: marker,
  openedIn: undefined,
  openedAtMs: 0,
  expiresAtMs,
})

/** How many more counters a count looks at than it counts, the oldest first. */
const lookedAt = 20
/** Callers name users. Beyond this, counters without holds are removed, and opened again when they are needed. */
const maxCounters = 100_000

function removeSome({ counters }: TenantBudgets, { count, nowMs }: { count: number; nowMs: number }): void {
  const isFull = counters.size > maxCounters
  for (const [name, counter] of counters.entries().take(count)) {
    counters.delete(name)
    if (counter.expiresAtMs > nowMs && (!isFull || counter.held > 0)) counters.set(name, counter)
  }
}
