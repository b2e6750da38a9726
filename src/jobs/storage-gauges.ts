import type { Clock } from '../base/clock.ts'
import type { MetricHeading, Metrics } from '../base/metrics.ts'

/** When the oldest rows were written that a job removes; null if there are none. */
type Oldest = { readonly eventAtMs: number | null; readonly deltaAtMs: number | null }

export type StorageGaugeParts = {
  readonly clock: Clock
  readonly metrics: Metrics
  readonly retentionMs: number
  readonly readFreeBytes: () => Promise<number>
  readonly readDatabaseBytes: () => Promise<number>
  readonly readOldest: () => Promise<Oldest>
}

const headings = [
  {
    name: 'gatehouse_storage_disk_free_bytes',
    help: 'Free disk of the data folder, measured once a minute.',
    type: 'gauge',
  },
  {
    name: 'gatehouse_storage_bytes',
    help: 'Size of the database, measured once a minute. All nodes on PostgreSQL report the same database.',
    type: 'gauge',
  },
  {
    name: 'gatehouse_audit_retention_lag_seconds',
    help: 'How much older than the retention period the oldest audit event is; 0 if none is older.',
    type: 'gauge',
  },
  {
    name: 'gatehouse_rollup_lag_seconds',
    help: 'Age of the oldest request, charge or decision that is not in the sums of the reports yet.',
    type: 'gauge',
  },
] as const satisfies readonly MetricHeading[]

/**
 * Adds gauges of the storage, and returns the function that measures them. A scrape shows the last measurement, so it never waits
 * for the database. A gauge has no value before it is first measured.
 */
export function createStorageGauges(parts: StorageGaugeParts): () => Promise<void> {
  const { clock, metrics, retentionMs } = parts
  const values = new Map<(typeof headings)[number]['name'], number>()
  const ageSeconds = (atMs: number | null): number => (atMs === null ? 0 : Math.max(0, (clock.nowMs() - atMs) / 1000))

  metrics.readings(headings, () => Array.from(values, ([name, value]) => ({ name, value })))
  return async () => {
    // First, because it is known while the database is down.
    values.set('gatehouse_storage_disk_free_bytes', await parts.readFreeBytes())
    values.set('gatehouse_storage_bytes', await parts.readDatabaseBytes())
    const { eventAtMs, deltaAtMs } = await parts.readOldest()
    values.set('gatehouse_audit_retention_lag_seconds', Math.max(0, ageSeconds(eventAtMs) - retentionMs / 1000))
    values.set('gatehouse_rollup_lag_seconds', ageSeconds(deltaAtMs))
  }
}
