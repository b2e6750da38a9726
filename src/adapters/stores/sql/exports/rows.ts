import { isConfiguration } from '../../../../domain/audit/export/configuration.ts'
import { sinkStates, type Cursor, type SinkState } from '../../../../domain/audit/export/cursor.ts'
import type { ExportSink, WatchedSink } from '../../../../domain/audit/export/export-sink.ts'
import { sendsOf } from '../../../../domain/audit/export/sink.ts'
import type { Value } from '../database.ts'

export type SinkRow = {
  id: string
  organization_id: string
  type: string
  label: string
  enabled: number
  config: string
  version: number
  created_at: number
  updated_at: number
}

export type CursorRow = {
  sequence: number
  plan_last: number | null
  state: string
  attempt: number
  next_attempt_at: number
  failing_since: number | null
  alarmed_at: number | null
  last_success_at: number | null
  last_error_at: number | null
  last_error: string | null
}

export type WatchedRow = SinkRow &
  CursorRow & {
    head_sequence: number | null
    oldest_unsent_at: number | null
    dead_letters: number
    cost_files: number
    last_cost_file: number | null
    last_without_tags: number | null
  }

const sinkColumns = [
  'id',
  'organization_id',
  'type',
  'label',
  'enabled',
  'config',
  'version',
  'created_at',
  'updated_at',
]

/** In the order of `cursorValues`. */
export const cursorColumns = [
  'sequence',
  'plan_last',
  'state',
  'attempt',
  'next_attempt_at',
  'failing_since',
  'alarmed_at',
  'last_success_at',
  'last_error_at',
  'last_error',
] as const

export const cursorValues = (cursor: Cursor): Value[] => [
  cursor.sequence,
  cursor.planLast,
  cursor.state,
  cursor.attempt,
  cursor.nextAttemptAtMs,
  cursor.failingSinceMs,
  cursor.alarmedAtMs,
  cursor.lastSuccessAtMs,
  cursor.lastErrorAtMs,
  cursor.lastError,
]

export const cursorSelection = cursorColumns.map((column) => `k.${column}`).join(', ')
export const sinkSelection = sinkColumns.map((column) => `s.${column}`).join(', ')

/** A sink with its health. The oldest unsent event is the first one after its cursor. */
export const watchedSelection = `${sinkSelection}, ${cursorSelection}, h.sequence as head_sequence,
  (select min(e.time) from audit_event e where e.organization_id = s.organization_id and e.sequence = (
    select min(b.sequence) from audit_event b where b.organization_id = s.organization_id and b.sequence > k.sequence
  )) as oldest_unsent_at,
  (select count(*) from export_dead_letter d where d.sink_id = s.id) as dead_letters,
  (select count(*) from export_cost_file f where f.sink_id = s.id) as cost_files,
  (select max(f.day) from export_cost_file f where f.sink_id = s.id) as last_cost_file,
  (select max(f.day) from export_cost_file f where f.sink_id = s.id and f.has_tags = 0) as last_without_tags`

export const watchedTables = `export_sink s join export_cursor k on k.sink_id = s.id
  left join audit_chain h on h.organization_id = s.organization_id`

export const sinkOf = (row: SinkRow): ExportSink => ({
  id: row.id,
  organizationId: row.organization_id,
  type: row.type,
  label: row.label,
  enabled: row.enabled === 1,
  config: configOf(row.config),
  version: row.version,
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
})

export const cursorOf = (row: CursorRow): Cursor => ({
  sequence: row.sequence,
  planLast: row.plan_last,
  state: stateOf(row.state),
  attempt: row.attempt,
  nextAttemptAtMs: row.next_attempt_at,
  failingSinceMs: row.failing_since,
  alarmedAtMs: row.alarmed_at,
  lastSuccessAtMs: row.last_success_at,
  lastErrorAtMs: row.last_error_at,
  lastError: row.last_error,
})

export function watchedOf(row: WatchedRow): WatchedSink {
  const sink = sinkOf(row)
  const cursor = cursorOf(row)
  const sendsEvents = sendsOf(sink.config) === 'events'
  return {
    ...sink,
    health: {
      state: sink.enabled ? cursor.state : 'disabled',
      backlogEvents: sendsEvents ? Math.max(0, (row.head_sequence ?? 0) - cursor.sequence) : 0,
      oldestUnsentAtMs: sendsEvents ? row.oldest_unsent_at : null,
      nextAttemptAtMs: sink.enabled && cursor.state !== 'healthy' ? cursor.nextAttemptAtMs : null,
      deadLetters: row.dead_letters,
      lastSuccessAtMs: cursor.lastSuccessAtMs,
      lastErrorAtMs: cursor.lastErrorAtMs,
      lastError: cursor.lastError,
      costFiles: sendsEvents
        ? null
        : { count: row.cost_files, lastDay: row.last_cost_file, lastDayWithoutTags: row.last_without_tags },
    },
  }
}

function stateOf(text: string): SinkState {
  const state = sinkStates.find((each) => each === text)
  if (state === undefined) throw new Error(`${text} is not a sink state`)
  return state
}

function configOf(json: string): ExportSink['config'] {
  const value: unknown = JSON.parse(json)
  return isConfiguration(value) ? value : {}
}
