import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { base64Of, floatsOf } from './embeddings.ts'

describe('a vector', () => {
  it('is the same in both forms', () => {
    const values = [1, -0.5, 0.25, Math.fround(0.1)]
    assert.equal(base64Of(values), Buffer.from(new Float32Array(values).buffer).toString('base64'))
    assert.deepEqual(floatsOf(base64Of(values)), values)
  })

  it('is passed on unchanged if it already has the form', () => {
    assert.deepEqual(floatsOf([0.1]), [0.1])
    assert.equal(base64Of('AACAPw=='), 'AACAPw==')
  })
})
