import type { Budget } from '../../../../domain/budgets/budget.ts'
import type { BudgetStore } from '../../../../domain/budgets/store.ts'
import type { Transaction } from '../database.ts'
import { nameMatches, selectPage } from '../page.ts'

type BudgetRow = {
  id: string
  organization_id: string
  name: string
  settings: string
  state: string
  revision: number
  created_at: number
  updated_at: number
}

const columns = 'id, organization_id, name, settings, state, revision, created_at, updated_at'

/** Budgets in SQL, in the given transaction. */
export function budgetStore(tx: Transaction): BudgetStore {
  return {
    async lock(organizationId) {
      await tx.run('update organization set version = version where id = $1', [organizationId])
    },
    async insert(budget) {
      const { id, organizationId, name, state, revision, createdAtMs, updatedAtMs } = budget
      await tx.run(`insert into budget (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8)`, [
        id,
        organizationId,
        name,
        settingsOf(budget),
        state,
        revision,
        createdAtMs,
        updatedAtMs,
      ])
    },
    async replace(budget) {
      const { organizationId, id, name, state, revision, updatedAtMs } = budget
      const sql = `update budget set name = $3, settings = $4, state = $5, revision = $6, updated_at = $7
        where organization_id = $1 and id = $2 and revision = $6 - 1`
      const values = [organizationId, id, name, settingsOf(budget), state, revision, updatedAtMs]
      return (await tx.run(sql, values)) === 1
    },
    async remove({ organizationId, id }) {
      await tx.run('delete from budget_threshold where organization_id = $1 and budget_id = $2', [organizationId, id])
      return (await tx.run('delete from budget where organization_id = $1 and id = $2', [organizationId, id])) === 1
    },
    async find(organizationId, id) {
      const sql = `select ${columns} from budget where organization_id = $1 and id = $2`
      const [row] = await tx.query<BudgetRow>(sql, [organizationId, id])
      return row && budgetOf(row)
    },
    list(organizationId, page) {
      const where = { organization_id: organizationId, ...(page.state && { state: page.state }) }
      const matches = nameMatches(page)
      return selectPage<BudgetRow, Budget>(tx, { table: 'budget', columns, where, matches, map: budgetOf }, page)
    },
    async listActive(organizationId) {
      const sql = `select ${columns} from budget where organization_id = $1 and state = 'active' order by id`
      return (await tx.query<BudgetRow>(sql, [organizationId])).map(budgetOf)
    },
    names: (organizationId) =>
      tx.query<{ id: string; name: string }>('select id, name from budget where organization_id = $1 order by id', [
        organizationId,
      ]),
    async named(organizationId, kind, ids) {
      if (ids.length === 0) return []
      const list = ids.map((_, at) => `$${at + 2}`).join(', ')
      const table = kind === 'project' ? 'project' : 'api_key'
      const sql = `select id, name from ${table} where organization_id = $1 and id in (${list})`
      return tx.query<{ id: string; name: string }>(sql, [organizationId, ...ids])
    },
  }
}

/** The active budgets of all organizations, those of an organization together. */
export async function readActiveBudgets(query: Transaction['query']): Promise<readonly Budget[]> {
  const sql = `select ${columns} from budget where state = 'active' order by organization_id, id`
  return (await query<BudgetRow>(sql)).map(budgetOf)
}

type Settings = Pick<
  Budget,
  'match' | 'per' | 'unit' | 'amount' | 'period' | 'timeZone' | 'action' | 'warnAt' | 'extra'
>

function settingsOf({ match, per, unit, amount, period, timeZone, action, warnAt, extra }: Budget): string {
  const settings: Settings = { match, per, unit, amount, period, timeZone, action, warnAt, extra }
  return JSON.stringify(settings)
}

const budgetOf = (row: BudgetRow): Budget => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  ...(JSON.parse(row.settings) as Settings),
  state: row.state === 'paused' ? 'paused' : 'active',
  revision: row.revision,
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
})
