import { versions } from 'node:process'
import { diskSpaceOf } from '../adapters/stores/disk-probe.ts'
import { databaseBytes, oldestRows } from '../adapters/stores/sql/storage-figures.ts'
import { dayMs } from '../base/clock.ts'
import { watchProcess } from '../base/process-metrics.ts'
import type { FairSemaphore } from '../base/fair-semaphore.ts'
import type { MetricReading } from '../base/metrics.ts'
import { createStorageGauges } from '../jobs/storage-gauges.ts'
import type { Infrastructure } from './infrastructure.ts'

type ServerParts = {
  readonly version: string
  readonly inFlight: { count(): number }
  readonly reports: Pick<FairSemaphore, 'waiting'>
}

/** Metrics of the whole process, read at each scrape until the app is closed. */
export function openServerMetrics(infrastructure: Infrastructure, { version, inFlight, reports }: ServerParts): void {
  const { built, metrics, storage } = infrastructure
  built.use(watchProcess(metrics))
  metrics.readings(
    [
      {
        name: 'gatehouse_build_info',
        help: 'Always 1. Its labels tell which version and which Node runtime each server has; use it to follow a rollout.',
        type: 'gauge',
      },
    ],
    () => [{ name: 'gatehouse_build_info', labels: { version, node: versions.node }, value: 1 }],
  )
  metrics.gauge(
    'gatehouse_requests_in_flight',
    'Inference requests that have begun and not ended. Use it to size nodes, and to see whether a shutdown has drained.',
    inFlight.count,
  )
  metrics.gauge(
    'gatehouse_storage_writable',
    '0 while neither charges nor audit events can be stored, so that every request is rejected. Check the disk or the database.',
    () => (storage.requestFault() === undefined ? 1 : 0),
  )
  watchStorage(infrastructure, reports)
  measureStorage(infrastructure)
}

function measureStorage({ built, config, dataDir, database, clock, metrics, jobs }: Infrastructure): void {
  const { retention_days: days, archive } = config.audit
  const measure = createStorageGauges({
    clock,
    metrics,
    // An archive and a partition have whole days, so events stay for up to a day longer.
    retentionMs: (archive || database.engine === 'postgres' ? days + 1 : days) * dayMs,
    readFreeBytes: async () => (await diskSpaceOf(dataDir)).freeBytes,
    readDatabaseBytes: () => databaseBytes(database, dataDir),
    readOldest: () => oldestRows(database),
  })
  built.use(jobs.start('measure-storage', measure))
}

/** Reports wait for a turn of their organization, and then for a connection. */
function watchStorage({ metrics, database }: Infrastructure, limit: ServerParts['reports']): void {
  metrics.readings(
    [
      {
        name: 'gatehouse_storage_calls_running',
        help: 'Calls of the database that have begun and not ended. Requests: of the storage thread, or connections in use.',
        type: 'gauge',
      },
      {
        name: 'gatehouse_storage_calls_waiting',
        help: 'Calls that wait for the storage thread, a connection or an earlier report. Use it to see whether storage is too slow.',
        type: 'gauge',
      },
      {
        name: 'gatehouse_storage_reports_timed_out_total',
        help: 'Reports that took or waited too long.',
        type: 'counter',
      },
      { name: 'gatehouse_storage_writes_total', help: 'Writes that are durable.', type: 'counter' },
      {
        name: 'gatehouse_storage_write_seconds_total',
        help: 'The time that writes took until they were durable. Divide its rate by that of gatehouse_storage_writes_total.',
        type: 'counter',
      },
    ],
    (): MetricReading[] => {
      const { requests, reports, writes } = database.figures()
      const gauge = (name: string, kind: string, value: number): MetricReading => ({ name, labels: { kind }, value })
      return [
        gauge('gatehouse_storage_calls_running', 'request', requests.running),
        gauge('gatehouse_storage_calls_running', 'report', reports.running),
        gauge('gatehouse_storage_calls_waiting', 'request', requests.waiting),
        gauge('gatehouse_storage_calls_waiting', 'report', reports.waiting + limit.waiting()),
        { name: 'gatehouse_storage_reports_timed_out_total', value: reports.timedOut },
        { name: 'gatehouse_storage_writes_total', value: writes.count },
        { name: 'gatehouse_storage_write_seconds_total', value: writes.totalMs / 1000 },
      ]
    },
  )
}
