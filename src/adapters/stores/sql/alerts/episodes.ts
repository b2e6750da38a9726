import type { EpisodeState } from '../../../../domain/alerts/episode.ts'
import type { EpisodeStore, EpisodeTransitions } from '../../../../domain/alerts/evaluation.ts'
import type { Database, Transaction } from '../database.ts'

type StateRow = { subject: string; state: string; since: number; clear_since: number | null; alert_id: string | null }

/** The states of alert rules in SQL. */
export function episodeStore(database: Database): EpisodeStore {
  const write = async (sql: string, params: readonly (string | number | null)[]): Promise<void> =>
    void (await database.write([{ sql, params }]))
  return {
    async statesOf({ id }) {
      const sql = 'select subject, state, since, clear_since, alert_id from alert_state where rule_id = $1'
      return (await database.read<StateRow>(sql, [id])).map(stateOf)
    },
    // The rule may have been deleted meanwhile.
    beginPending: ({ id }, subject, atMs) =>
      write(
        `insert into alert_state (rule_id, subject, state, since) select id, $2, 'pending', cast($3 as bigint) from alert_rule
         where id = $1 on conflict (rule_id, subject) do nothing`,
        [id, subject, atMs],
      ),
    forget: ({ id }, subject) =>
      write(`delete from alert_state where rule_id = $1 and subject = $2 and state = 'pending'`, [id, subject]),
    setClearing: ({ id }, subject, sinceMs) =>
      write(`update alert_state set clear_since = $3 where rule_id = $1 and subject = $2 and state = 'firing'`, [
        id,
        subject,
        sinceMs,
      ]),
  }
}

/** Changes of states in the transaction of their alert. */
export const episodeTransitions = (tx: Transaction): EpisodeTransitions => ({
  async fire({ id }, subject, alertId) {
    const sql = `update alert_state set state = 'firing', alert_id = $3, clear_since = null
      where rule_id = $1 and subject = $2 and state = 'pending'`
    return (await tx.run(sql, [id, subject, alertId])) === 1
  },
  async resolve({ id }, subject, alertId) {
    const sql = `delete from alert_state where rule_id = $1 and subject = $2 and state = 'firing' and alert_id = $3`
    return (await tx.run(sql, [id, subject, alertId])) === 1
  },
})

/** Compare-and-set: of two nodes that start at the same time, one gets the lease. */
const takeLease = `insert into alert_evaluation (id, owner, lease_until) values (1, $1, $2)
  on conflict (id) do update set owner = excluded.owner, lease_until = excluded.lease_until
  where alert_evaluation.owner = excluded.owner or alert_evaluation.lease_until <= $3`

export type EvaluationLease = { readonly owner: string; readonly nowMs: number; readonly leaseMs: number }

/** Takes or extends the lease of the node that evaluates the rules. False if another node has it. */
export async function takeEvaluationLease(
  database: Database,
  { owner, nowMs, leaseMs }: EvaluationLease,
): Promise<boolean> {
  const [result] = await database.write([{ sql: takeLease, params: [owner, nowMs + leaseMs, nowMs] }])
  return result?.changed === 1
}

const stateOf = (row: StateRow): EpisodeState => ({
  subject: row.subject,
  state: row.state === 'firing' ? 'firing' : 'pending',
  sinceMs: row.since,
  clearSinceMs: row.clear_since,
  alertId: row.alert_id,
})
