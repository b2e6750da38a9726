import type { UsageStore } from '../../../domain/limits/persisted-usage.ts'
import { limitScopes } from '../../../domain/limits/scopes.ts'
import type { NodeUsage, WindowSlotUsage } from '../../../domain/limits/usage.ts'
import { createBulkInsert } from './bulk-insert.ts'
import type { Database, Value } from './database.ts'

const upsert = createBulkInsert({
  table: 'limit_use',
  columns: ['organization_id', 'scope', 'id', 'minute', 'day', 'saved_at'],
  suffix: `on conflict (organization_id, scope, id) do update
    set minute = excluded.minute, day = excluded.day, saved_at = excluded.saved_at`,
})

/** Rows per write, so that other writers can run in between. */
const batchSize = 96

type UsageRow = { organization_id: string; scope: string; id: string; minute: string; day: string }

/** Usage of limit windows in SQL, one row for each scope. */
export function limitUsageStore(database: Database): UsageStore {
  return {
    async load(afterMs) {
      const sql = 'select organization_id, scope, id, minute, day from limit_use where saved_at > $1'
      return (await database.read<UsageRow>(sql, [afterMs])).flatMap(readUsage)
    },
    async save(usages, nowMs) {
      for (let at = 0; at < usages.length; at += batchSize) {
        const rows = usages.slice(at, at + batchSize).map((usage) => valuesOf(usage, nowMs))
        await database.write(upsert(rows), { waitsForDisk: false })
      }
    },
    async removeBefore(ms) {
      await database.write([{ sql: 'delete from limit_use where saved_at <= $1', params: [ms] }])
    },
  }
}

const valuesOf = ({ organization, scope, id, minute, day }: NodeUsage, nowMs: number): Value[] => [
  organization,
  scope,
  id,
  JSON.stringify(minute),
  JSON.stringify(day),
  nowMs,
]

function readUsage(row: UsageRow): NodeUsage[] {
  const scope = limitScopes.find((known) => known === row.scope)
  if (scope === undefined) return []
  const [minute, day] = [row.minute, row.day].map((slots) => JSON.parse(slots) as WindowSlotUsage[])
  return [{ organization: row.organization_id, scope, id: row.id, minute: minute ?? [], day: day ?? [] }]
}
