import type { CaseSummary, GateOwner, GateRun, GateStore, StoredGate } from '../../../../domain/gate/gate-run.ts'
import type { OwnGateSettings } from '../../../../domain/gate/settings.ts'
import type { Database, Transaction } from '../database.ts'
import { selectPage } from '../page.ts'

const columns =
  'id, organization_id, policy_id, revision, digest, cases, backtest_id, replay_problem, author, created_by, created_at'

/** Changes of a draft. A publication changes none. */
const draftCodes = ['policy.created', 'policy.updated', 'policy.draft.discarded', 'policy.rolled_back']

/** The publish gate in SQL, in the given transaction. */
export function gateStore(tx: Transaction): GateStore {
  const select = async (condition: string, values: readonly string[]): Promise<GateRun | undefined> => {
    const [row] = await tx.query<RunRow>(
      `select ${columns} from gate_run where organization_id = $1 and policy_id = $2 ${condition}`,
      [...values],
    )
    return row && withApprovals(runOf(row))
  }
  const withApprovals = async (run: GateRun): Promise<GateRun> => {
    const rows = await tx.query<{ approved_by: string; approved_at: number }>(
      `select approved_by, approved_at from gate_approval where organization_id = $1 and run_id = $2
       order by approved_at, approved_by`,
      [run.organizationId, run.id],
    )
    return { ...run, approvals: rows.map((row) => ({ by: row.approved_by, atMs: row.approved_at })) }
  }

  return {
    async findSettings(owner) {
      const [row] = await tx.query<{ settings: string; revision: number; updated_at: number }>(
        'select settings, revision, updated_at from publish_gate where organization_id = $1 and policy_id = $2',
        keyOf(owner),
      )
      return row && { ...settingsOf(row), updatedAtMs: row.updated_at }
    },
    async saveSettings(owner, { settings, revision, updatedAtMs }) {
      const values = [...keyOf(owner), JSON.stringify(settings), revision, updatedAtMs]
      const sql =
        revision === 1
          ? `insert into publish_gate (organization_id, policy_id, settings, revision, updated_at)
             values ($1, $2, $3, $4, $5) on conflict do nothing`
          : `update publish_gate set settings = $3, revision = $4, updated_at = $5
             where organization_id = $1 and policy_id = $2 and revision = $4 - 1`
      return (await tx.run(sql, values)) === 1
    },
    async insertRun(run) {
      await tx.run(`insert into gate_run (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, [
        run.id,
        run.organizationId,
        run.policyId ?? '',
        run.revision,
        run.digest,
        JSON.stringify(run.cases),
        run.backtestId,
        run.replayProblem,
        run.author,
        run.createdBy,
        run.createdAtMs,
      ])
    },
    findRun: (organizationId, policyId, id) => select('and id = $3', [organizationId, policyId ?? '', id]),
    latestRun: (organizationId, policyId) => select('order by id desc limit 1', [organizationId, policyId ?? '']),
    async listRuns(organizationId, policyId, page) {
      const where = { organization_id: organizationId, policy_id: policyId ?? '' }
      const found = await selectPage(tx, { table: 'gate_run', columns, where, map: runOf }, page)
      return { ...found, items: await Promise.all(found.items.map(withApprovals)) }
    },
    approve: async ({ organizationId, id }, { by, atMs }) =>
      (await tx.run(
        `insert into gate_approval (organization_id, run_id, approved_by, approved_at) values ($1, $2, $3, $4)
         on conflict do nothing`,
        [organizationId, id, by, atMs],
      )) === 1,
    async draftAuthor(organizationId, policyId) {
      const codes = draftCodes.map((_, at) => `$${at + 3}`).join(', ')
      const [row] = await tx.query<{ actor_id: string | null }>(
        `select actor_id from audit_event where organization_id = $1 and resource_id = $2 and code in (${codes})
         order by sequence desc limit 1`,
        [organizationId, policyId, ...draftCodes],
      )
      if (row === undefined) return null
      return row.actor_id ?? 'operator' // who has no credential
    },
  }
}

/** Deletes runs from before this time. */
export async function removeGateRuns(database: Database, beforeMs: number): Promise<void> {
  const params = [beforeMs]
  const old = 'select id from gate_run where created_at < $1'
  await database.write([
    { sql: `delete from gate_approval where run_id in (${old})`, params },
    { sql: 'delete from gate_run where created_at < $1', params },
  ])
}

const keyOf = ({ organizationId, policyId }: GateOwner): string[] => [organizationId, policyId ?? '']

type RunRow = {
  id: string
  organization_id: string
  policy_id: string
  revision: number
  digest: string
  cases: string
  backtest_id: string | null
  replay_problem: string | null
  author: string | null
  created_by: string
  created_at: number
}

/** The cast holds because only this store writes the column. */
const settingsOf = (row: { settings: string; revision: number }): Omit<StoredGate, 'updatedAtMs'> => ({
  settings: JSON.parse(row.settings) as OwnGateSettings,
  revision: row.revision,
})

const runOf = (row: RunRow): GateRun => ({
  id: row.id,
  organizationId: row.organization_id,
  policyId: row.policy_id === '' ? null : row.policy_id,
  revision: row.revision,
  digest: row.digest,
  cases: JSON.parse(row.cases) as CaseSummary,
  backtestId: row.backtest_id,
  replayProblem: row.replay_problem,
  author: row.author,
  approvals: [],
  createdBy: row.created_by,
  createdAtMs: row.created_at,
})
