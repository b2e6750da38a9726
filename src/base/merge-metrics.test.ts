import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMetrics } from './metrics.ts'
import { mergeMetrics } from './merge-metrics.ts'

describe('the metrics of several processes', () => {
  it('have one heading for each metric, and the samples of every process with its number', () => {
    const textOf = (count: number): string => {
      const metrics = createMetrics()
      metrics.counter('requests_total', 'Requests.', { model: ['a'] }).add({ model: 'a' }, count)
      metrics.gauge('waiting', 'Waiting {calls} # now.', () => count)
      return metrics.expose()
    }
    const merged = mergeMetrics([
      { worker: 1, text: textOf(3) },
      { worker: 2, text: textOf(4) },
    ])
    assert.equal(
      merged,
      `# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{worker="1",model="a"} 3
requests_total{worker="2",model="a"} 4
# HELP waiting Waiting {calls} # now.
# TYPE waiting gauge
waiting{worker="1"} 3
waiting{worker="2"} 4
`,
    )
  })

  it('keep the buckets of a histogram, and label values with braces, quotes and spaces', () => {
    const metrics = createMetrics()
    const options = { labels: { model: 'closed-by-caller' }, buckets: [1] } as const
    metrics.histogram('seconds', 'Time.', options).series({ model: 'a} "b" c' })(0.5)
    const merged = mergeMetrics([{ worker: 7, text: metrics.expose() }])
    assert.match(merged, /^seconds_bucket\{worker="7",model="a\} \\"b\\" c",le="1"\} 1$/m)
    assert.match(merged, /^seconds_count\{worker="7",model="a\} \\"b\\" c"\} 1$/m)
  })

  it('contain a metric that only one process has', () => {
    const [one, other] = [createMetrics(), createMetrics()]
    one.gauge('both', 'Both.', () => 1)
    other.gauge('both', 'Both.', () => 2)
    other.gauge('rare', 'Rare.', () => 3)
    other.counter('unused_total', 'Without samples.', {})
    const merged = mergeMetrics([
      { worker: 1, text: one.expose() },
      { worker: 2, text: other.expose() },
    ])
    assert.match(
      merged,
      /both\{worker="1"\} 1\nboth\{worker="2"\} 2\n# HELP rare Rare\.\n# TYPE rare gauge\nrare\{worker="2"\} 3\n/,
    )
    assert.match(merged, /# TYPE unused_total counter\n$/)
  })
})
