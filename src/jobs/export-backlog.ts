import type { Clock } from '../base/clock.ts'
import type { Metrics } from '../base/metrics.ts'

/** How far all export sinks are behind, taken together. */
export type BacklogReading = {
  readonly events: number
  readonly oldestAtMs: number
  readonly failingSinks: number
  readonly lastSuccessAtMs: number
}

export type ExportBacklogParts = {
  readonly clock: Clock
  readonly metrics: Metrics
  readonly readBacklog: () => Promise<BacklogReading>
}

/** Adds gauges for the backlog, and returns the function that refreshes them. */
export function createBacklogGauges({ clock, metrics, readBacklog }: ExportBacklogParts): () => Promise<void> {
  let backlog: BacklogReading = { events: 0, oldestAtMs: clock.nowMs(), failingSinks: 0, lastSuccessAtMs: 0 }
  const age = (): number => (backlog.events === 0 ? 0 : Math.max(0, (clock.nowMs() - backlog.oldestAtMs) / 1000))
  metrics.gauge('gatehouse_export_backlog_events', 'Events that sinks have not received yet.', () => backlog.events)
  metrics.gauge(
    'gatehouse_export_backlog_age_seconds',
    'Age of the oldest event that a sink has not received yet.',
    age,
  )
  metrics.gauge('gatehouse_export_failing_sinks', 'Sinks whose last call failed.', () => backlog.failingSinks)
  metrics.gauge(
    'gatehouse_export_last_success_timestamp_seconds',
    'When a sink last accepted an event, in Unix seconds; 0 before the first.',
    () => backlog.lastSuccessAtMs / 1000,
  )
  return async () => {
    backlog = await readBacklog()
  }
}
