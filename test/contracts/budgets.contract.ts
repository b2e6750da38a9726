import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { budgetStore } from '../../src/adapters/stores/sql/budgets/budgets.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { thresholdStore } from '../../src/adapters/stores/sql/budgets/thresholds.ts'
import type { Budget } from '../../src/domain/budgets/budget.ts'
import type { ReachedThreshold } from '../../src/domain/budgets/thresholds.ts'
import type { BudgetStore } from '../../src/domain/budgets/store.ts'
import type { Engine } from '../support/engines.ts'

const budgetOf = (id: string, more: Partial<Budget> = {}): Budget => ({
  id,
  organizationId: 'org_1',
  name: `Größe 😀 ${id}`,
  match: { projectIds: ['proj_1'], keyIds: ['key_1'], models: ['gpt-*'], users: ['ada'], tags: { team: ['red'] } },
  per: 'tag:team',
  unit: 'usd',
  amount: 999_999_999_999_999,
  period: 'month',
  timeZone: 'Asia/Kolkata',
  action: { type: 'use_model', model: 'gpt-5-mini' },
  warnAt: [50, 80],
  extra: { amount: 1, untilMs: 1_767_225_600_000, reason: 'Launch' },
  state: 'active',
  revision: 1,
  createdAtMs: 1,
  updatedAtMs: 2,
  ...more,
})
const page = { limit: 10, order: 'asc' } as const
const idsOf = (budgets: readonly Budget[]): string[] => budgets.map(({ id }) => id)

/** The contract of every store of budgets. */
export function budgetContract({ name, skip, open }: Engine): void {
  describe(`budgets: ${name}`, { skip }, () => {
    it('are read as they were written, in their organization only', async () => {
      await using scene = await openScene(open)
      const { within } = scene
      const budget = budgetOf('bud_1')
      await within((store) => store.insert(budget))
      assert.deepEqual(await within((store) => store.find('org_1', 'bud_1')), budget)
      assert.equal(await within((store) => store.find('org_2', 'bud_1')), undefined)
      assert.deepEqual(await within((store) => store.names('org_1')), [{ id: 'bud_1', name: budget.name }])
      assert.deepEqual(await within((store) => store.names('org_2')), [])
    })

    it('change only if the revision is unchanged, and are removed with what was reported of them', async () => {
      await using scene = await openScene(open)
      const { within, database } = scene
      await within((store) => store.insert(budgetOf('bud_1')))
      const changed = budgetOf('bud_1', { name: 'Other', amount: 5, state: 'paused', extra: null, revision: 2 })
      assert.ok(!(await within((store) => store.replace({ ...changed, organizationId: 'org_2' }))))
      assert.ok(await within((store) => store.replace(changed)))
      assert.ok(!(await within((store) => store.replace(changed))))
      assert.deepEqual(await within((store) => store.find('org_1', 'bud_1')), changed)
      const insert = `insert into budget_threshold (organization_id, budget_id, member, period_start, percent, reached_at)
        values ('org_1', 'bud_1', '', 1, 50, 2)`
      await database.write([{ sql: insert }])
      assert.ok(!(await within((store) => store.remove({ organizationId: 'org_2', id: 'bud_1' }))))
      assert.ok(await within((store) => store.remove(changed)))
      assert.ok(!(await within((store) => store.remove(changed))))
      assert.deepEqual(await database.read('select * from budget_threshold'), [])
    })

    it('are listed by page, name and state', async () => {
      await using scene = await openScene(open)
      const { within } = scene
      await within(async (store) => {
        await store.insert(budgetOf('bud_1'))
        await store.insert(budgetOf('bud_2', { name: 'Team RED', state: 'paused' }))
        await store.insert(budgetOf('bud_3', { name: 'Red' }))
        await store.insert(budgetOf('bud_4', { organizationId: 'org_2' }))
      })
      const list = async (more = {}): Promise<string[]> =>
        idsOf((await within((store) => store.list('org_1', { ...page, ...more }))).items)
      assert.deepEqual(await list(), ['bud_1', 'bud_2', 'bud_3'])
      assert.deepEqual(await list({ after: 'bud_1', limit: 1 }), ['bud_2'])
      assert.deepEqual(await list({ search: 'red' }), ['bud_2', 'bud_3'])
      assert.deepEqual(await list({ state: 'paused' }), ['bud_2'])
      assert.deepEqual(idsOf(await within((store) => store.listActive('org_1'))), ['bud_1', 'bud_3'])
      assert.deepEqual(await within((store) => store.listActive('org_3')), [])
    })

    it('mark each threshold of a member and period once, also if two nodes do it together', async () => {
      await using scene = await openScene(open)
      const { within, database } = scene
      await within((store) => store.insert(budgetOf('bud_1')))
      const period = { organizationId: 'org_1', budgetId: 'bud_1', periodStartMs: 1_767_225_600_000 }
      const reached = { ...period, member: null, percent: 50 }
      const mark = (what: ReachedThreshold) =>
        database.transaction(async (tx) => {
          const store = thresholdStore(tx)
          await store.lock('org_1')
          return store.mark(what, 1_767_225_600_001)
        })
      assert.deepEqual((await Promise.all([mark(reached), mark(reached)])).toSorted(), [false, true])
      assert.ok(await mark({ ...reached, member: 'ada' }))
      assert.ok(await mark({ ...reached, percent: 80 }))
      assert.ok(!(await mark({ ...reached, budgetId: 'bud_2' })), 'a deleted budget is not reported')
      const stored = () => database.transaction((tx) => thresholdStore(tx).ofPeriod(period))
      assert.deepEqual(
        (await stored()).toSorted((a, b) => a.percent - b.percent || String(a.member).localeCompare(String(b.member))),
        [{ ...reached, member: 'ada' }, reached, { ...reached, percent: 80 }],
      )
      await database.transaction((tx) => thresholdStore(tx).forgetBefore(period))
      assert.equal((await stored()).length, 3)
      await database.transaction((tx) =>
        thresholdStore(tx).forgetBefore({ ...period, periodStartMs: period.periodStartMs + 1 }),
      )
      assert.deepEqual(await stored(), [])
    })

    it('find the projects and keys of their organization', async () => {
      await using scene = await openScene(open)
      const { within, database } = scene
      const insert = 'insert into project (id, organization_id, name, created_at) values ($1, $2, $1, 1)'
      await database.write([
        { sql: insert, params: ['proj_1', 'org_1'] },
        { sql: insert, params: ['proj_2', 'org_2'] },
      ])
      const named = (kind: 'project' | 'key', ...ids: string[]) => within((store) => store.named('org_1', kind, ids))
      assert.deepEqual(await named('project', 'proj_1', 'proj_2', 'proj_3'), [{ id: 'proj_1', name: 'proj_1' }])
      assert.deepEqual(await named('key', 'proj_1'), [])
      assert.deepEqual(await named('project'), [])
    })
  })
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const insert = 'insert into organization (id, name, changed_at, created_at) values ($1, $1, 1, 1)'
  await database.write(['org_1', 'org_2'].map((id) => ({ sql: insert, params: [id] })))
  return {
    database,
    within: <T>(work: (store: BudgetStore) => Promise<T>): Promise<T> =>
      database.transaction((tx) => work(budgetStore(tx))),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
