import type { UsageStore } from '../../../domain/limits/persisted-usage.ts'
import { limitScopes } from '../../../domain/limits/scopes.ts'
import type { NodeUsage, WindowSlotUsage } from '../../../domain/limits/usage.ts'
import type { Database, Statement } from './database.ts'

const upsert = `insert into limit_use (organization_id, scope, id, minute, day, saved_at)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (organization_id, scope, id) do update
    set minute = excluded.minute, day = excluded.day, saved_at = excluded.saved_at`

/** Rows per write, so that other writers can run in between. */
const batchSize = 100

type UsageRow = { organization_id: string; scope: string; id: string; minute: string; day: string }

/** Usage of limit windows in SQL, one row for each scope. */
export function limitUsageStore(database: Database): UsageStore {
  return {
    async load(afterMs) {
      const sql = 'select organization_id, scope, id, minute, day from limit_use where saved_at > $1'
      return (await database.read<UsageRow>(sql, [afterMs])).flatMap(readUsage)
    },
    async save(usages, nowMs) {
      const statements = usages.map((usage) => upsertOf(usage, nowMs))
      for (let at = 0; at < statements.length; at += batchSize) {
        await database.write(statements.slice(at, at + batchSize), { waitsForDisk: false })
      }
    },
    async removeBefore(ms) {
      await database.write([{ sql: 'delete from limit_use where saved_at <= $1', params: [ms] }])
    },
  }
}

const upsertOf = ({ organization, scope, id, minute, day }: NodeUsage, nowMs: number): Statement => ({
  sql: upsert,
  params: [organization, scope, id, JSON.stringify(minute), JSON.stringify(day), nowMs],
})

function readUsage(row: UsageRow): NodeUsage[] {
  const scope = limitScopes.find((known) => known === row.scope)
  if (scope === undefined) return []
  const [minute, day] = [row.minute, row.day].map((slots) => JSON.parse(slots) as WindowSlotUsage[])
  return [{ organization: row.organization_id, scope, id: row.id, minute: minute ?? [], day: day ?? [] }]
}
