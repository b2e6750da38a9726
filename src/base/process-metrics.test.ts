import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import { setFlagsFromString } from 'node:v8'
import { createMetrics } from './metrics.ts'
import { watchProcess } from './process-metrics.ts'

/** The values of an exposition, by name and labels. */
function valuesIn(exposition: string): Map<string, number> {
  const lines = exposition.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}

function block(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

describe('the metrics of the process', () => {
  it('report how long the event loop was blocked since the last scrape', async () => {
    const metrics = createMetrics()
    using _watch = watchProcess(metrics)
    await sleep(60) // until the measurement has started
    block(300)
    await sleep(60)
    const lag = (name: string): number => valuesIn(metrics.expose()).get(`nodejs_eventloop_lag_${name}_seconds`) ?? -1
    assert.ok(lag('max') >= 0.2)
    assert.ok(lag('max') < 0.2, 'the maximum is reset by each scrape')
  })

  it('report only numbers, even if they are read twice in a row', () => {
    const metrics = createMetrics()
    using _watch = watchProcess(metrics)
    for (const text of [metrics.expose(), metrics.expose()]) {
      for (const [name, value] of valuesIn(text)) assert.ok(Number.isFinite(value) && value >= 0, `${name} ${value}`)
    }
  })

  it('count garbage collections by kind', async () => {
    const metrics = createMetrics()
    using _watch = watchProcess(metrics)
    setFlagsFromString('--expose-gc')
    const collect: unknown = runInNewContext('gc')
    assert.ok(typeof collect === 'function')
    const count = (): number => valuesIn(metrics.expose()).get('nodejs_gc_duration_seconds_count{kind="major"}') ?? 0
    while (count() === 0) {
      collect()
      await sleep(5)
    }
    assert.ok(count() > 0)
  })

  it('report memory, processor time and open resources', async () => {
    const metrics = createMetrics()
    using _watch = watchProcess(metrics)
    const timer = sleep(50)
    const values = valuesIn(metrics.expose())
    await timer
    const { rss } = process.memoryUsage()
    assert.ok(Math.abs((values.get('process_resident_memory_bytes') ?? 0) / rss - 1) < 0.5)
    for (const name of [
      'nodejs_heap_size_total_bytes',
      'nodejs_heap_size_used_bytes',
      'nodejs_external_memory_bytes',
      'nodejs_array_buffers_bytes',
      'process_cpu_seconds_total',
      'nodejs_active_handles_total',
      'nodejs_active_resources{type="Timeout"}',
    ]) {
      assert.ok((values.get(name) ?? 0) > 0, name)
    }
    assert.ok(Math.abs(Date.now() / 1000 - process.uptime() - (values.get('process_start_time_seconds') ?? 0)) < 5)
  })
})
