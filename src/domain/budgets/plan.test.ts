import assert from 'node:assert/strict'
import { it } from 'node:test'
import { dayMs, hourMs } from '../../base/clock.ts'
import type { Budget } from './budget.ts'
import { planBudget } from './plan.ts'
import type { HourSpent } from './spent.ts'

const nowMs = Date.UTC(2026, 10, 19, 12, 30)
const budget: Budget = {
  id: 'bud_1',
  organizationId: 'org_1',
  name: 'Team red',
  match: { projectIds: [], keyIds: [], models: [], users: [], tags: {} },
  per: 'user',
  unit: 'tokens',
  amount: 100,
  period: 'day',
  timeZone: 'UTC',
  action: { type: 'deny' },
  warnAt: [],
  extra: null,
  state: 'active',
  revision: 1,
  createdAtMs: nowMs,
  updatedAtMs: nowMs,
}
const midnight = Date.UTC(2026, 10, 18)
const hour = (at: number, spent: number, requests: number): HourSpent => ({
  member: 'ada',
  startMs: midnight + at * hourMs,
  spent,
  requests,
})
const stopsOf = async (given: Budget, ...hours: HourSpent[]) =>
  (await planBudget(given, async () => hours, nowMs)).stops.map(({ member, reachedAtMs, requestsAfter }) => [
    member,
    (reachedAtMs - midnight) / hourMs,
    requestsAfter,
  ])

it('a plan has the hour in which a member reached the amount of a period, and the requests after it', async () => {
  assert.deepEqual(await stopsOf(budget, hour(9, 60, 6), hour(8, 40, 4)), [])
  assert.deepEqual(await stopsOf(budget, hour(8, 40, 4), hour(9, 80, 8), hour(11, 10, 5)), [['ada', 9, 7]])
  assert.deepEqual(await stopsOf(budget, hour(23, 90, 1), hour(24, 90, 1)), [], 'each period has the whole amount')
  assert.deepEqual(await stopsOf(budget, { ...hour(1, 200, 20), member: 'bob' }, hour(2, 200, 2), hour(25, 200, 30)), [
    ['ada', 25, 15],
    ['bob', 1, 10],
    ['ada', 2, 1],
  ])
})

it('a plan reads whole periods, and counts the requests of the last 30 days', async () => {
  const month = { ...budget, period: 'month' as const }
  let fromMs = 0
  const plan = await planBudget(
    month,
    async (_budget, { startMs }) => {
      fromMs = startMs
      return [hour(-29 * 24, 150, 10), hour(-20 * 24, 50, 10)]
    },
    nowMs,
  )
  assert.equal(fromMs, Date.UTC(2026, 9, 1))
  assert.deepEqual(
    plan.stops.map(({ period, requestsAfter }) => [period.startMs, requestsAfter]),
    [[Date.UTC(2026, 9, 1), 10]],
  )
  assert.equal(plan.toMs - plan.fromMs, 30 * dayMs + 30 * 60_000)
  const before = await planBudget(month, async () => [hour(-40 * 24, 150, 10)], nowMs)
  assert.deepEqual(before.stops, [])
})

it('a plan of a budget for once counts as if it had begun 30 days ago, and has at most 100 rows', async () => {
  const once = { ...budget, period: 'once' as const }
  assert.deepEqual(await stopsOf(once, hour(-500, 60, 1), hour(0, 60, 3)), [['ada', 0, 1]])
  const many = Array.from({ length: 101 }, (_, at) => ({ ...hour(1, 200, 2), member: `user-${at}` }))
  const { stops, hasMore, requests, members } = await planBudget(budget, async () => many, nowMs)
  assert.deepEqual([stops.length, hasMore, requests, members], [100, true, 101, 101])
})
