import { versions } from 'node:process'
import { watchProcess } from '../base/process-metrics.ts'
import type { Infrastructure } from './infrastructure.ts'

type ServerParts = { readonly version: string; readonly inFlight: { count(): number } }

/** Metrics of the whole process, read at each scrape until the app is closed. */
export function openServerMetrics(
  { built, metrics, storage }: Infrastructure,
  { version, inFlight }: ServerParts,
): void {
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
}
