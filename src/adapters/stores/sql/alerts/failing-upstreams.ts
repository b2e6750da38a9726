import type { FailingUpstream } from '../../../../domain/alerts/figures.ts'
import type { UpstreamStatus } from '../../../../domain/inference/upstream-status.ts'
import type { Database } from '../database.ts'

type UpstreamRow = { upstream: string; code: string | null; since: number }

/** Each node writes which upstreams fail for it, because the node that evaluates the rules may not call them. */
export type FailingUpstreams = {
  /** Replaces what this node wrote before. */
  write(upstreams: readonly Pick<UpstreamStatus, 'name' | 'failures' | 'lastError'>[], nowMs: number): Promise<void>
  /** Those that a node reported since this time. */
  read(sinceMs: number): Promise<readonly FailingUpstream[]>
}

/** One failed call is no reason for an alert, and an upstream that nobody calls stays as it was. */
const failuresInRow = 3

/** In SQL, a row for each node and upstream. */
export function failingUpstreams(database: Database, nodeId: string): FailingUpstreams {
  let known: readonly string[] = []
  return {
    async write(upstreams, nowMs) {
      const failing = upstreams.filter(({ failures }) => failures >= failuresInRow)
      const recovered = known.filter((name) => failing.every((upstream) => upstream.name !== name))
      const statements = [
        ...failing.map(({ name, lastError }) => ({
          sql: `insert into failing_upstream (node_id, upstream, code, since, seen_at) values ($1, $2, $3, $4, $4)
            on conflict (node_id, upstream) do update set code = excluded.code, seen_at = excluded.seen_at`,
          params: [nodeId, name, lastError?.code ?? null, nowMs],
        })),
        ...recovered.map((name) => ({
          sql: 'delete from failing_upstream where node_id = $1 and upstream = $2',
          params: [nodeId, name],
        })),
      ]
      if (statements.length > 0) await database.write(statements, { waitsForDisk: false })
      known = failing.map(({ name }) => name)
    },
    async read(sinceMs) {
      const sql = `select upstream, max(code) as code, min(since) as since from failing_upstream
        where seen_at >= $1 group by upstream order by upstream`
      const rows = await database.read<UpstreamRow>(sql, [sinceMs])
      return rows.map(({ upstream: name, code, since }) => ({ name, code, sinceMs: since }))
    },
  }
}

/** Rows of nodes that are gone. */
export async function removeFailingUpstreams(database: Database, beforeMs: number): Promise<void> {
  await database.write([{ sql: 'delete from failing_upstream where seen_at < $1', params: [beforeMs] }])
}
