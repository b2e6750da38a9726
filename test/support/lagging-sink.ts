import type { Database } from '../../src/adapters/stores/sql/database.ts'

/** A sink of org_1 whose cursor is at this event. */
export async function addLaggingSink(
  database: Database,
  { enabled, sequence }: { enabled: number; sequence: number },
): Promise<void> {
  await database.write([
    {
      sql: `insert into export_sink (id, organization_id, type, label, enabled, config, version, created_at, updated_at)
        values ('sink_1', 'org_1', 'webhook', '', $1, '{}', 1, 1, 1)`,
      params: [enabled],
    },
    {
      sql: `insert into export_cursor (sink_id, organization_id, sequence, state, attempt, next_attempt_at, lease_until)
        values ('sink_1', 'org_1', $1, 'retrying', 1, 1, 0)`,
      params: [sequence],
    },
  ])
}
