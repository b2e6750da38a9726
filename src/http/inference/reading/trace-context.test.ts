import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { callerSpanOf } from './trace-context.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'

describe('the trace context of a caller', () => {
  it('is read from traceparent and tracestate', () => {
    const headers = { traceparent: `00-${traceId}-${spanId}-01`, tracestate: 'vendor=1,other=2' }
    assert.deepEqual(callerSpanOf(headers), { traceId, spanId, isSampled: true, state: 'vendor=1,other=2' })
    assert.equal(callerSpanOf({ traceparent: `00-${traceId}-${spanId}-00` })?.isSampled, false)
  })

  it('may be of a later version with more fields', () => {
    assert.deepEqual(callerSpanOf({ traceparent: `01-${traceId}-${spanId}-03-more` }), {
      traceId,
      spanId,
      isSampled: true,
    })
  })

  for (const [title, value] of [
    ['an empty header', ''],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['a span id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['capital letters', `00-${traceId.toUpperCase()}-${spanId}-01`],
    ['the version ff', `ff-${traceId}-${spanId}-01`],
    ['further fields in version 00', `00-${traceId}-${spanId}-01-more`],
    ['two headers', `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`],
  ] as const)
    it(`is ignored with ${title}`, () => assert.equal(callerSpanOf({ traceparent: value }), undefined))

  it('keeps its ids if tracestate is too long or has other characters', () => {
    for (const tracestate of ['x'.repeat(513), 'a=ä'])
      assert.deepEqual(callerSpanOf({ traceparent: `00-${traceId}-${spanId}-01`, tracestate }), {
        traceId,
        spanId,
        isSampled: true,
      })
  })
})
