import type { UsageStore } from '../../../domain/limits/persisted-usage.ts'
import { limitScopes } from '../../../domain/limits/scopes.ts'
import type { NodeUsage, WindowSlotUsage } from '../../../domain/limits/usage.ts'
import type { Database, Statement } from './database.ts'

const saveOne = `insert into limit_use (organization_id, scope, id, minute, day, saved_at)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (organization_id, scope, id) do update
    set minute = excluded.minute, day = excluded.day, saved_at = excluded.saved_at`

/** Other writers get their turn after this many rows. */
const savedAtOnce = 100

type UseRow = { organization_id: string; scope: string; id: string; minute: string; day: string }

/** The windows of limits in SQL, one row for each scope. */
export function limitUsageStore(database: Database): UsageStore {
  return {
    async load(afterMs) {
      const sql = 'select organization_id, scope, id, minute, day from limit_use where saved_at > $1'
      return (await database.read<UseRow>(sql, [afterMs])).flatMap(readUse)
    },
    async save(uses, nowMs) {
      const statements = uses.map((use) => saving(use, nowMs))
      for (let at = 0; at < statements.length; at += savedAtOnce) {
        await database.write(statements.slice(at, at + savedAtOnce))
      }
    },
    async removeBefore(ms) {
      await database.write([{ sql: 'delete from limit_use where saved_at <= $1', params: [ms] }])
    },
  }
}

const saving = ({ organization, scope, id, minute, day }: NodeUsage, nowMs: number): Statement => ({
  sql: saveOne,
  params: [organization, scope, id, JSON.stringify(minute), JSON.stringify(day), nowMs],
})

function readUse(row: UseRow): NodeUsage[] {
  const scope = limitScopes.find((known) => known === row.scope)
  if (scope === undefined) return []
  const [minute, day] = [row.minute, row.day].map((slots) => JSON.parse(slots) as WindowSlotUsage[])
  return [{ organization: row.organization_id, scope, id: row.id, minute: minute ?? [], day: day ?? [] }]
}
