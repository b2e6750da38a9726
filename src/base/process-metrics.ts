import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import type { Metrics, MetricReading } from './metrics.ts'

/** How often the event loop delay is measured. It costs 0.2 % of one processor. */
const resolutionMs = 20
const nanosecondsPerSecond = 1e9

const gcKinds: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
}

/** Metrics of this process under the names that common Node dashboards use. */
export function watchProcess(metrics: Metrics): Disposable {
  const delay = watchEventLoopDelay(metrics)
  const collections = watchCollections(metrics)
  addProcessReadings(metrics)
  return {
    [Symbol.dispose]() {
      delay[Symbol.dispose]()
      collections[Symbol.dispose]()
    },
  }
}

function watchEventLoopDelay(metrics: Metrics): Disposable {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  // Node measures the time between two timers, so the resolution is subtracted.
  const seconds = (nanoseconds: number): number => {
    const lag = nanoseconds / nanosecondsPerSecond - resolutionMs / 1000
    return Number.isFinite(lag) && lag > 0 ? lag : 0
  }
  const help = (what: string): string => `${what} delay of the event loop since the metrics were last read.`
  const headings = [
    { name: 'nodejs_eventloop_lag_mean_seconds', help: help('Mean'), type: 'gauge' },
    { name: 'nodejs_eventloop_lag_p50_seconds', help: help('Median'), type: 'gauge' },
    { name: 'nodejs_eventloop_lag_p90_seconds', help: help('90th percentile of the'), type: 'gauge' },
    { name: 'nodejs_eventloop_lag_p99_seconds', help: help('99th percentile of the'), type: 'gauge' },
    { name: 'nodejs_eventloop_lag_max_seconds', help: help('Longest'), type: 'gauge' },
  ] as const
  metrics.readings(headings, () => {
    const values = [delay.mean, delay.percentile(50), delay.percentile(90), delay.percentile(99), delay.max]
    delay.reset()
    return headings.map(({ name }, at) => ({ name, value: seconds(values[at] ?? 0) }))
  })
  return { [Symbol.dispose]: () => void delay.disable() }
}

/** Observing a collection costs nothing measurable compared with the collection. */
function watchCollections(metrics: Metrics): Disposable {
  const durations = metrics.histogram('nodejs_gc_duration_seconds', 'Garbage collections, by kind.', {
    labels: { kind: Object.values(gcKinds) },
    buckets: [0.001, 0.01, 0.1, 1, 2, 5],
  })
  const series = new Map(Object.values(gcKinds).map((kind) => [kind, durations.series({ kind })]))
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const detail: unknown = 'detail' in entry ? entry.detail : undefined
      const kind = typeof detail === 'object' && detail !== null && 'kind' in detail ? Number(detail.kind) : 0
      series.get(gcKinds[kind] ?? '')?.(entry.duration / 1000)
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  return { [Symbol.dispose]: () => observer.disconnect() }
}

function addProcessReadings(metrics: Metrics): void {
  metrics.readings(
    [
      { name: 'process_cpu_seconds_total', help: 'Processor time used.', type: 'counter' },
      { name: 'process_start_time_seconds', help: 'When the process started, in Unix seconds.', type: 'gauge' },
      { name: 'process_resident_memory_bytes', help: 'Resident memory of the process.', type: 'gauge' },
      { name: 'nodejs_heap_size_total_bytes', help: 'Size of the heap.', type: 'gauge' },
      { name: 'nodejs_heap_size_used_bytes', help: 'Used part of the heap.', type: 'gauge' },
      { name: 'nodejs_external_memory_bytes', help: 'Memory of objects outside the heap.', type: 'gauge' },
      {
        name: 'nodejs_array_buffers_bytes',
        help: 'The part of the external memory that array buffers use.',
        type: 'gauge',
      },
      {
        name: 'nodejs_active_handles_total',
        help: 'Open handles, such as connections, servers and timers.',
        type: 'gauge',
      },
      { name: 'nodejs_active_requests_total', help: 'Asynchronous system calls in flight.', type: 'gauge' },
      { name: 'nodejs_active_resources', help: 'Open handles and system calls in flight, by type.', type: 'gauge' },
    ],
    () => [...cpuAndMemory(), ...resources()],
  )
}

function cpuAndMemory(): MetricReading[] {
  const { user, system } = process.cpuUsage()
  const memory = process.memoryUsage()
  return [
    { name: 'process_cpu_seconds_total', value: (user + system) / 1e6 },
    { name: 'process_start_time_seconds', value: Math.round(performance.timeOrigin) / 1000 },
    { name: 'process_resident_memory_bytes', value: memory.rss },
    { name: 'nodejs_heap_size_total_bytes', value: memory.heapTotal },
    { name: 'nodejs_heap_size_used_bytes', value: memory.heapUsed },
    { name: 'nodejs_external_memory_bytes', value: memory.external },
    { name: 'nodejs_array_buffers_bytes', value: memory.arrayBuffers },
  ]
}

function resources(): MetricReading[] {
  const counts = new Map<string, number>()
  for (const type of process.getActiveResourcesInfo()) counts.set(type, (counts.get(type) ?? 0) + 1)
  const all = [...counts]
  const sum = (isRequest: boolean): number =>
    all.reduce(
      (total, [type, count]) => total + (/Req(Wrap|Callback|Promise)$/.test(type) === isRequest ? count : 0),
      0,
    )
  return [
    { name: 'nodejs_active_handles_total', value: sum(false) },
    { name: 'nodejs_active_requests_total', value: sum(true) },
    ...all.map(([type, value]) => ({ name: 'nodejs_active_resources', labels: { type }, value })),
  ]
}
