import type { NamedKind, NamesOf } from '../../../../domain/costs/names.ts'
import type { Transaction } from '../database.ts'

/** Fewer than an engine takes as parameters. */
const maxIds = 500

const tables: Readonly<Record<NamedKind, readonly string[]>> = { project: ['project'], key: ['api_key', 'admin_key'] }

/** The names of projects and keys, in SQL. */
export const namesIn =
  (query: Transaction['query']): NamesOf =>
  async (organizationId, kind, ids) => {
    const names = new Map<string, string>()
    for (let at = 0; at < ids.length; at += maxIds) {
      const some = ids.slice(at, at + maxIds)
      const list = some.map((_, position) => `$${position + 2}`).join(', ')
      const selects = tables[kind].map(
        (table) => `select id, name from ${table} where organization_id = $1 and id in (${list})`,
      )
      const rows = await query<{ id: string; name: string }>(selects.join(' union all '), [organizationId, ...some])
      for (const { id, name } of rows) names.set(id, name)
    }
    return names
  }
