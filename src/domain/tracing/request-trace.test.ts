import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import { RequestTrace } from './request-trace.ts'

it('a trace keeps no more than a hundred calls to the judge', () => {
  const { clock } = createHandClock()
  const parts = { clock, newSpanId: () => 'b'.repeat(16), hasContent: false, onFinished: () => undefined }
  const trace = new RequestTrace(parts, {
    context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true },
  })
  const call = { target: { upstream: 'up', model: 'm' }, startedMs: 0, endedMs: 1 }
  for (let count = 0; count < 200; count++) trace.onModelCall(call, 'response')
  assert.equal(trace.modelCalls.length, 100)
})
