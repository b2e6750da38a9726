import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Budget } from '../../domain/budgets/budget.ts'
import type { CounterSpend } from '../../domain/budgets/counter-spend.ts'
import type { AppliedBudget } from '../../domain/budgets/counters.ts'
import type { BudgetCount } from '../../domain/limits/budget-counters.ts'
import { createOpenCounter } from './open-counters.ts'

const budgetOf = (id: string, organizationId = 'org'): Budget => ({
  id,
  organizationId,
  name: id,
  match: { projectIds: [], keyIds: [], models: [], users: [], tags: {} },
  per: 'user',
  amount: 10,
  unit: 'requests',
  period: 'day',
  timeZone: 'UTC',
  action: { type: 'deny' },
  warnAt: [],
  extra: null,
  state: 'active',
  revision: 1,
  createdAtMs: 0,
  updatedAtMs: 0,
})

const counterOf = (budget: Budget, member: string): AppliedBudget => ({
  budget,
  member,
  period: { startMs: 0, endMs: 1000 },
  counter: `${budget.id}=${member}`,
})

/** A ledger whose reads end when the test says so. */
function open() {
  const reads: ({ readonly counters: readonly AppliedBudget[] } & PromiseWithResolvers<readonly CounterSpend[]>)[] = []
  const counts: BudgetCount[] = []
  const openCounter = createOpenCounter({
    readSpend: (counters) => {
      const one = { counters, ...Promise.withResolvers<readonly CounterSpend[]>() }
      reads.push(one)
      return one.promise
    },
    limits: { countBudgets: (count) => void counts.push(count) },
    clock: { nowMs: () => 500 },
  })
  /** Lets the read with this number find this number of requests of each member. */
  const resolve = (at: number, requests: number): void =>
    reads[at]?.resolve(reads[at].counters.map((applied) => ({ applied, spend: { micro: 0, tokens: 0, requests } })))
  const read = (): string[] => reads.map(({ counters }) => counters.map(({ counter }) => counter).join(' '))
  return { reads, read, resolve, counts, openCounter }
}

it('reads members of one budget that wait together, after the one that came first', async () => {
  const { read, resolve, counts, openCounter } = open()
  const budget = budgetOf('bud_a')
  const other = budgetOf('bud_b')
  const opened = [
    openCounter(counterOf(budget, 'ann'), 'life'),
    openCounter(counterOf(budget, 'bob'), 'life'),
    openCounter(counterOf(other, 'ann'), 'life'),
    openCounter(counterOf(budget, 'cat'), 'life'),
    openCounter(counterOf(budget, 'bob'), 'life'),
  ]
  await setImmediate()
  assert.deepEqual(read(), ['bud_a=ann'])
  resolve(0, 1)
  await setImmediate()
  assert.deepEqual(read(), ['bud_a=ann', 'bud_a=bob bud_a=cat'])
  resolve(1, 2)
  await setImmediate()
  assert.equal(read()[2], 'bud_b=ann')
  resolve(2, 3)
  await Promise.all(opened)
  const results = counts.flatMap(({ counters }) =>
    counters.flatMap(({ counter, spent: known }) => (known === null ? [] : [`${counter}: ${known}`])),
  )
  assert.deepEqual(results, ['bud_a=ann: 1', 'bud_a=bob: 2', 'bud_a=cat: 2', 'bud_b=ann: 3'])
})

it('does not let one organization wait for another', async () => {
  const { resolve, openCounter } = open()
  void openCounter(counterOf(budgetOf('bud_a'), 'ann'), 'life')
  const other = openCounter(counterOf(budgetOf('bud_b', 'other'), 'ann'), 'life')
  await setImmediate()
  resolve(1, 1)
  await other
})

it('opens a counter again after a read that failed', async () => {
  const { reads, resolve, openCounter } = open()
  const counter = counterOf(budgetOf('bud_a'), 'ann')
  const failed = assert.rejects(openCounter(counter, 'life'), { code: 'budget_unavailable' })
  await setImmediate()
  reads[0]?.reject(new Error('The database is away.'))
  await failed
  const opened = openCounter(counter, 'life')
  await setImmediate()
  resolve(1, 1)
  await opened
})
