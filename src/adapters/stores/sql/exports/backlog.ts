import type { Database } from '../database.ts'

/** The backlog of all enabled sinks of events together, and how many of all sinks fail. */
export type ExportBacklog = {
  readonly events: number
  readonly oldestAtMs: number
  readonly failingSinks: number
  readonly lastSuccessAtMs: number
}

type BacklogRow = { events: number | null; oldest: number | null; failing: number | null; success: number | null }

export async function readBacklog(database: Database): Promise<ExportBacklog> {
  const [row] = await database.read<BacklogRow>(
    `select cast(sum(case when s.sends = 'events' then h.sequence - k.sequence else 0 end) as bigint) as events,
       min(case when s.sends = 'events' then e.time end) as oldest,
       cast(sum(case when k.state = 'healthy' then 0 else 1 end) as bigint) as failing,
       max(case when s.sends = 'events' then k.last_success_at end) as success
     from export_cursor k join export_sink s on s.id = k.sink_id and s.enabled = 1 and s.deleted_at is null
     join audit_chain h on h.organization_id = k.organization_id
     left join audit_event e on e.organization_id = k.organization_id and e.sequence = k.sequence + 1`,
  )
  return {
    events: row?.events ?? 0,
    oldestAtMs: row?.oldest ?? 0,
    failingSinks: row?.failing ?? 0,
    lastSuccessAtMs: row?.success ?? 0,
  }
}
