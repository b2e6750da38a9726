import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMetrics } from './metrics.ts'

describe('the exposition of metrics', () => {
  it('counts a label value that is not listed as other', () => {
    const metrics = createMetrics()
    metrics.counter('calls_total', 'Calls.', { result: ['ok'] }).add({ result: 'made up' })
    assert.match(metrics.expose(), /^calls_total\{result="other"\} 1$/m)
  })

  it('escapes label values, because names of the configuration may contain any character', () => {
    const metrics = createMetrics()
    metrics.counter('calls_total', 'Calls.', { model: 'closed-by-caller' }).series({ model: 'a"b\\c\nd' })(2)
    metrics.readings([{ name: 'up', help: 'Up.', type: 'gauge' }], () => [
      { name: 'up', labels: { model: '"' }, value: 1 },
    ])
    assert.match(metrics.expose(), /^calls_total\{model="a\\"b\\\\c\\nd"\} 2$/m)
    assert.match(metrics.expose(), /^up\{model="\\""\} 1$/m)
  })
})
