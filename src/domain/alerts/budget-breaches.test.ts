import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Budget } from '../budgets/budget.ts'
import type { BudgetMemberStatus, BudgetStatus } from '../budgets/status.ts'
import { budgetBreaches, type BudgetBreachParts } from './budget-breaches.ts'
import { completeRule, type RuleSettings } from './rule-mutations.ts'
import type { AlertRule } from './rule.ts'

const ruleOf = (settings: Partial<RuleSettings> = {}): AlertRule => ({
  id: 'rule_1',
  organizationId: 'org_1',
  kind: 'budget_near_limit',
  ...completeRule('budget_near_limit', { name: 'Budgets', ...settings }),
  version: 1,
  createdAtMs: 0,
  updatedAtMs: 0,
})

const budgetOf = (id: string, fields: Partial<Budget> = {}): Budget => ({
  id,
  organizationId: 'org_1',
  name: `Budget ${id}`,
  match: { projectIds: [], keyIds: [], models: [], users: [], tags: {} },
  per: 'all',
  unit: 'usd',
  amount: 5_000_000,
  period: 'day',
  timeZone: 'UTC',
  action: { type: 'deny' },
  warnAt: [50],
  extra: null,
  state: 'active',
  revision: 1,
  createdAtMs: 0,
  updatedAtMs: 0,
  ...fields,
})

const memberOf = (member: string | null, spent: number, amount = 5_000_000): BudgetMemberStatus => ({
  member,
  spent,
  amount,
  left: Math.max(0, amount - spent),
  percent: Math.floor((spent / amount) * 10_000) / 100,
  forecast: null,
})

const statusOf = (budget: Budget, members: readonly BudgetMemberStatus[], hasMore = false): BudgetStatus => ({
  budget,
  period: { startMs: 0, endMs: 86_400_000 },
  members,
  hasMore,
})

const partsOf = (...statuses: readonly BudgetStatus[]): BudgetBreachParts => ({
  statuses: async () => statuses,
  nameOf: async (filter) => `The ${filter?.name} ${filter?.id}`,
})

it('applies from its threshold on, and names what was spent of the budget', async () => {
  const rule = ruleOf()
  assert.deepEqual(await budgetBreaches(rule, partsOf(statusOf(budgetOf('bud_1'), [memberOf(null, 3_999_000)]))), [])
  assert.deepEqual(await budgetBreaches(rule, partsOf(statusOf(budgetOf('bud_1'), [memberOf(null, 4_250_000)]))), [
    {
      subject: 'bud_1',
      title: 'The budget Budget bud_1 is used by 85 %',
      text: '4.25 of 5 USD of the budget Budget bud_1 are spent (85 %). The threshold is 80 %. It begins again on 1970-01-02T00:00:00.000Z.',
      figure: 85,
      link: { page: 'costs', search: { view: 'budgets', budget: 'bud_1' } },
    },
  ])
})

it('is one alert for a budget, which names the member that used most and how many others are over the threshold', async () => {
  const budget = budgetOf('bud_1', { per: 'key', unit: 'requests', amount: 100, period: 'once' })
  const members = [memberOf('key_a', 120, 100), memberOf('key_b', 90, 100), memberOf('key_c', 10, 100)]
  const [breach, ...others] = await budgetBreaches(
    ruleOf({ threshold: 90 }),
    partsOf({ ...statusOf(budget, members), period: { startMs: 0, endMs: null } }),
  )
  assert.deepEqual(others, [])
  assert.equal(
    breach?.text,
    'The api_key_id key_a has spent 120 of 100 requests of the budget Budget bud_1 (120 %), and 1 more is over the threshold. The threshold is 90 %.',
  )
})

it('says that the number of members is a lower bound if not all of them are listed', async () => {
  const members = [memberOf('ann', 5_000_000), memberOf('bob', 4_900_000)]
  const [breach] = await budgetBreaches(ruleOf(), partsOf(statusOf(budgetOf('bud_1', { per: 'user' }), members, true)))
  assert.match(String(breach?.text), /^The user ann has spent .* and at least 1 more is over the threshold/)
})

it('looks only at the budget of its filter', async () => {
  const parts = partsOf(
    statusOf(budgetOf('bud_1'), [memberOf(null, 5_000_000)]),
    statusOf(budgetOf('bud_2'), [memberOf(null, 5_000_000)]),
  )
  const breaches = await budgetBreaches(ruleOf({ filter: { name: 'budget_id', id: 'bud_2' } }), parts)
  assert.deepEqual(
    breaches.map(({ subject }) => subject),
    ['bud_2'],
  )
})

it('may have a threshold above the amount, because budgets that only warn are passed', () => {
  assert.equal(ruleOf({ threshold: 150 }).threshold, 150)
})
