import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Database, Value } from '../../src/adapters/stores/sql/database.ts'
import { migrate, readMigrations } from '../../src/adapters/stores/sql/migrate.ts'
import type { ContractOptions } from './database.contract.ts'

/** The contract of the migration after which backtests and cases need no policy. */
export function gatewayCasesMigrationContract(
  name: string,
  open: () => Promise<Database>,
  options: ContractOptions = {},
): void {
  describe(`the migration to cases of the gateway configuration: ${name}`, { skip: options.skip ?? false }, () => {
    it('keeps every column of backtests and cases, and then accepts rows without a policy', async () => {
      await using database = await open()
      const migrations = await readMigrations(fileURLToPath(new URL('../../migrations', import.meta.url)))
      const at = migrations.findIndex((migration) => migration.name === 'gateway_cases')
      await migrate(database, migrations.slice(0, at))
      const insert = async (table: string, values: Record<string, Value>): Promise<void> => {
        const names = Object.keys(values)
        const places = names.map((_, index) => `$${index + 1}`)
        const sql = `insert into ${table} (${names.join(', ')}) values (${places.join(', ')})`
        await database.write([{ sql, params: Object.values(values) }])
      }
      await insert('organization', { id: 'org_1', name: 'org_1', changed_at: 1, created_at: 1 })
      await insert('policy', policy)
      await insert('backtest', backtest)
      await insert('policy_case', policyCase)
      await migrate(database, migrations)
      assert.deepEqual(await database.read('select * from backtest', []), [backtest])
      assert.deepEqual(textOf(await database.read('select * from policy_case', [])), textOf([policyCase]))
      await insert('backtest', { ...backtest, id: 'bt_2', policy_id: null })
      await insert('policy_case', { ...policyCase, id: 'case_2', policy_id: null })
      await assert.rejects(insert('backtest', { ...backtest, id: 'bt_3', policy_id: 'pol_2' }))
      await assert.rejects(insert('policy_case', { ...policyCase, id: 'case_3', policy_id: 'pol_2' }))
    })
  })
}

/** With the columns of that time. */
const policy = {
  id: 'pol_1',
  organization_id: 'org_1',
  name: 'P',
  description: '',
  state: 'draft',
  revision: 1,
  has_unpublished_changes: 1,
  rule: 'R',
  direction: 'both',
  mode: 'monitoring',
  scope: 'organization',
  project_ids: '[]',
  created_at: 1,
  updated_at: 1,
}

const backtest = {
  id: 'bt_1',
  organization_id: 'org_1',
  policy_id: 'pol_1',
  status: 'failed',
  request: '{}',
  cursor: 2,
  first_sequence: 3,
  done: 4,
  total: 5,
  tally: '{"a":1}',
  error: 'It was cancelled.',
  owner: 'node_1',
  lease_until: 6,
  created_at: 7,
  updated_at: 8,
  cancelled_at: 9,
}

const policyCase = {
  id: 'case_1',
  organization_id: 'org_1',
  policy_id: 'pol_1',
  says: 'asked outright',
  sealed: new Uint8Array([1, 2, 3]),
  expected: '"match"',
  weight: 'must',
  origin: 'replay',
  event_id: 'evt_1',
  request_id: 'req_1',
  tags: '[]',
  labelled_by: 'adk_1',
  labelled_at: 1,
  revision: 2,
  created_at: 3,
  updated_at: 4,
}

/** The engines return bytes as different classes. */
const textOf = (rows: readonly Record<string, unknown>[]) =>
  rows.map(({ sealed, ...row }) => ({ ...row, sealed: Buffer.from(sealed as Uint8Array).toString('hex') }))
