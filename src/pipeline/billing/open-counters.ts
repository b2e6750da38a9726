import { randomInt } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { ReadCounterSpend } from '../../domain/budgets/counter-spend.ts'
import { expiryOf, inUnit, phaseAt, type AppliedBudget } from '../../domain/budgets/counters.ts'
import type { CountedBudget } from '../../domain/limits/budget-counters.ts'
import type { LimitStore } from '../../domain/limits/store.ts'
import { budgetsUnavailable } from './budget-faults.ts'

export type OpenCountersParts = {
  readonly readSpend: ReadCounterSpend
  readonly limits: Pick<LimitStore, 'countBudgets'>
  readonly clock: Pick<Clock, 'nowMs'>
}

/** Opens the counter of a budget in the store with this epoch. */
export type OpenCounter = (applied: AppliedBudget, epoch: string) => Promise<void>

type Waiting = { readonly applied: AppliedBudget; readonly epoch: string } & PromiseWithResolvers<void>

/** Members of one budget that are read with one statement. */
const maxTogether = 200

const maxToken = 2 ** 47

/**
 * Counters are opened from the ledger when a request needs them. Callers name users and tags, and a sum over those may read many rows.
 * So an organization has one read at a time, and counters of one budget that wait are read together.
 */
export function createOpenCounter({ readSpend, limits, clock }: OpenCountersParts): OpenCounter {
  const byOrganization = new Map<string, Map<string, Waiting>>()
  const opening = new Map<string, Promise<void>>()

  return (applied, epoch) => {
    const name = `${epoch} ${applied.counter}`
    const known = opening.get(name)
    if (known !== undefined) return known
    const waiting = { applied, epoch, ...Promise.withResolvers<void>() }
    const opened = waiting.promise.finally(() => opening.delete(name))
    opening.set(name, opened)
    const { organizationId } = applied.budget
    const others = byOrganization.get(organizationId)
    if (others === undefined) {
      byOrganization.set(organizationId, new Map([[name, waiting]]))
      void openAll(organizationId)
    } else {
      others.set(name, waiting)
    }
    return opened
  }

  async function openAll(organizationId: string): Promise<void> {
    const queue = byOrganization.get(organizationId) ?? new Map<string, Waiting>()
    for (let next = takeNext(queue); next.length > 0; next = takeNext(queue)) {
      try {
        await openTogether(next)
        for (const { resolve } of next) resolve()
      } catch (error) {
        for (const { reject } of next) reject(error)
      }
    }
    byOrganization.delete(organizationId)
  }

  async function openTogether([first, ...others]: readonly Waiting[]): Promise<void> {
    if (first === undefined) return
    const { epoch, applied } = first
    const { budget } = applied
    const count = { organization: budget.organizationId, epoch, token: randomInt(maxToken) }
    const phase = phaseAt(budget, clock.nowMs())
    const countedOf = (one: AppliedBudget, spent: number | null): CountedBudget => ({
      counter: one.counter,
      phase,
      expiresAtMs: expiryOf(one),
      spent,
    })
    const counters = [applied, ...others.map((one) => one.applied)]
    await limits.countBudgets({ ...count, counters: counters.map((one) => countedOf(one, null)) })
    const known = await readSpend(counters).catch((error: unknown) => {
      throw budgetsUnavailable(error)
    })
    const opened = known.map((one) => countedOf(one.applied, inUnit(budget, one.spend)))
    await limits.countBudgets({ ...count, counters: opened })
  }
}

/** The one that waits longest, and others of the same budget, period and epoch. */
function takeNext(queue: Map<string, Waiting>): Waiting[] {
  const [first] = queue.values()
  const taken: Waiting[] = []
  for (const [name, waiting] of queue) {
    if (first === undefined || taken.length === maxTogether) break
    if (waiting.epoch !== first.epoch || !isSameBudget(waiting.applied, first.applied)) continue
    queue.delete(name)
    taken.push(waiting)
  }
  return taken
}

const isSameBudget = (one: AppliedBudget, other: AppliedBudget): boolean =>
  one.budget === other.budget && one.period.startMs === other.period.startMs
