import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { literal, notations } from '../../scripts/docs/literal.ts'

const value = { name: "Ada's", isOn: true, none: null, 'content-type': 'x', list: ['a', 1] }

describe('a value as source code', () => {
  it('is JSON', () => {
    assert.deepEqual(JSON.parse(literal(value, notations.json)), value)
  })

  it('is JavaScript, with quotes only where they are needed', () => {
    assert.equal(
      literal(value, notations.js),
      `{\n  name: "Ada's",\n  isOn: true,\n  none: null,\n  'content-type': 'x',\n  list: ['a', 1],\n}`,
    )
  })

  it('is Python, with its own words for true, false and null', () => {
    assert.equal(literal({ a: true, b: null, c: false }, notations.python), '{"a": True, "b": None, "c": False}')
  })

  it('is one line if it is short', () => {
    assert.equal(literal([{ role: 'user' }], notations.js), "[{ role: 'user' }]")
    assert.equal(literal({}, notations.json), '{}')
  })
})
