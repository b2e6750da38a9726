import { repeat } from '../../base/clock.ts'
import { readBacklog } from '../../adapters/stores/sql/exports/backlog.ts'
import type { Infrastructure } from '../infrastructure.ts'

const everyMs = 15_000

/** How far all sinks together are behind, for those who watch the service. */
export function watchBacklog({ database, clock, metrics, warn }: Infrastructure): Disposable {
  let backlog = { events: 0, oldestAtMs: clock.nowMs(), failingSinks: 0, lastSuccessAtMs: 0 }
  const age = (): number => (backlog.events === 0 ? 0 : Math.max(0, (clock.nowMs() - backlog.oldestAtMs) / 1000))
  metrics.gauge('gatehouse_export_backlog_events', 'Events that sinks have not got yet.', () => backlog.events)
  metrics.gauge('gatehouse_export_backlog_age_seconds', 'How long the oldest of them has waited.', age)
  metrics.gauge('gatehouse_export_failing_sinks', 'Sinks whose last call failed.', () => backlog.failingSinks)
  metrics.gauge(
    'gatehouse_export_last_success_timestamp_seconds',
    'When a sink last took an event; 0 before the first.',
    () => backlog.lastSuccessAtMs / 1000,
  )
  const look = async (): Promise<void> => {
    backlog = await readBacklog(database)
  }
  return repeat(clock, () => look().catch(warn('the backlog of exports cannot be read')), everyMs)
}
