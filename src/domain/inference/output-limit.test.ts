import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { minOutput } from './output-limit.ts'

describe('an output limit', () => {
  const assumed = { tokens: 8192, isExplicit: false }

  it('becomes explicit together with a limit that somebody set, also with a higher one', () => {
    assert.deepEqual(minOutput(assumed, 100), { tokens: 100, isExplicit: true })
    assert.deepEqual(minOutput(assumed, 9000), { tokens: 8192, isExplicit: true })
  })

  it('stays as it is where there is no other limit', () => {
    assert.equal(minOutput(assumed, Infinity), assumed)
  })
})
