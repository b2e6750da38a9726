import type { Database } from '../../src/adapters/stores/sql/database.ts'

/** A sink of org_1 whose cursor is at this event. */
export async function addLaggingSink(
  database: Database,
  { enabled, sequence, sends = 'events' }: { enabled: number; sequence: number; sends?: 'events' | 'costs' },
): Promise<void> {
  await database.write([
    {
      sql: `insert into export_sink (id, organization_id, type, label, enabled, config, sends, version, created_at, updated_at)
        values ('sink_1', 'org_1', 'webhook', '', $1, '{}', $2, 1, 1, 1)`,
      params: [enabled, sends],
    },
    {
      sql: `insert into export_cursor (sink_id, organization_id, sequence, state, attempt, next_attempt_at, lease_until)
        values ('sink_1', 'org_1', $1, 'retrying', 1, 1, 0)`,
      params: [sequence],
    },
  ])
}
