import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Fault } from '../../base/fault.ts'
import type { Budget } from './budget.ts'
import type { MemberSpent } from './spent.ts'
import { readBudgetSummaries } from './status.ts'

const nowMs = Date.UTC(2026, 10, 19, 12)
const budget: Budget = {
  id: 'bud_1',
  organizationId: 'org_1',
  name: 'Each user',
  match: { projectIds: [], keyIds: [], models: [], users: [], tags: {} },
  per: 'user',
  unit: 'tokens',
  amount: 100,
  period: 'day',
  timeZone: 'UTC',
  action: { type: 'deny' },
  warnAt: [50, 90],
  extra: null,
  state: 'active',
  revision: 1,
  createdAtMs: nowMs,
  updatedAtMs: nowMs,
}
const spent: readonly MemberSpent[] = [
  { member: 'ada', spent: 49 },
  { member: 'cyd', spent: 120 },
  { member: 'bob', spent: 50 },
  { member: 'dan', spent: 0 },
]

it('the summary of a budget has its highest member, who spent something and who reached the lowest threshold', async () => {
  const without = { ...budget, warnAt: [] }
  const raised = { ...budget, extra: { amount: 100, untilMs: nowMs + 1, reason: 'r' } }
  const found = await readBudgetSummaries([budget, without, raised], async () => spent, nowMs)
  const highest = { member: 'cyd', spent: 120, amount: 100, left: 0, percent: 120, forecast: 240 }
  assert.partialDeepStrictEqual(found[0], { members: 3, near: 2, highest })
  assert.deepEqual(
    found.map((each) => each?.near),
    [2, 0, 1],
  )
  assert.equal(found[2]?.highest?.left, 80)
})

it('figures that cannot be read are missing for their budget alone, and few budgets are read at once', async () => {
  const budgets = Array.from({ length: 11 }, (_, at) => ({ ...budget, id: `bud_${at}` }))
  let [running, most] = [0, 0]
  const read = async ({ id }: Budget): Promise<readonly MemberSpent[]> => {
    most = Math.max(most, ++running)
    await Promise.resolve()
    running--
    if (id === 'bud_3') throw new Fault('unavailable', 'storage_unavailable', 'The database is away.')
    return [{ member: 'ada', spent: Number(id.slice('bud_'.length)) }]
  }
  const found = await readBudgetSummaries(budgets, read, nowMs)
  assert.deepEqual(
    found.map((each) => each?.highest?.spent),
    [0, 1, 2, undefined, 4, 5, 6, 7, 8, 9, 10],
  )
  assert.equal(most, 4)
  const broken = readBudgetSummaries(
    budgets,
    async () => {
      throw new Error('a bug')
    },
    nowMs,
  )
  await assert.rejects(broken, /a bug/)
})
