import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { mapJson } from './json-texts.ts'

const shout = (text: string): string => text.toUpperCase()

describe('changing the strings of a JSON text', () => {
  it('keeps field names, numbers and formatting', () => {
    const json = '{ "id" : 1234567890123456789, "n":1.0, "\\u0061":["b\\"\\\\", {"c":"d"}], "same":"\\u0041" }'
    const changed = '{ "id" : 1234567890123456789, "n":1.0, "\\u0061":["B\\"\\\\", {"c":"D"}], "same":"SAME" }'
    assert.equal(
      mapJson(json, (text) => (text === 'A' ? 'SAME' : shout(text))),
      changed,
    )
    assert.equal(
      mapJson(json, (text) => text),
      json,
    )
  })

  it('changes the same strings as in the parsed value', () => {
    const changed = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value, (_, one: unknown) => (typeof one === 'string' ? shout(one) : one)))
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(2), (value, indent) => {
        assert.deepEqual(JSON.parse(mapJson(JSON.stringify(value, null, indent), shout)), changed(value))
      }),
    )
  })

  it('changes the whole text if it is not JSON', () => assert.equal(mapJson('{"to":"ada', shout), '{"TO":"ADA'))
})
