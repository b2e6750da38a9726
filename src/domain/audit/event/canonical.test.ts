import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { canonicalize, inCanonicalOrder } from './canonical.ts'

test('keys are sorted by UTF-16 code unit at every depth, without spaces', () => {
  const value = JSON.parse(
    '{ "\u20ac": 1, "\\r": 2, "\ud83d\ude00": { "b": [3, { "z": 0, "a": 0 }], "a": 4 }, "1": 5, "\ufb33": 6 }',
  )
  assert.equal(
    canonicalize(value),
    '{"\\r":2,"1":5,"\u20ac":1,"\ud83d\ude00":{"a":4,"b":[3,{"a":0,"z":0}]},"\ufb33":6}',
  )
})

test('numbers have the format of the examples in RFC 8785', () => {
  const spelled: [number, string][] = [
    [-0, '0'],
    [Number('333333333.33333329'), '333333333.3333333'],
    [1e30, '1e+30'],
    [4.5, '4.5'],
    [2e-3, '0.002'],
    [0.000000000000000000000000001, '1e-27'],
    [9007199254740992, '9007199254740992'],
  ]
  for (const [value, text] of spelled) assert.equal(canonicalize(value), text)
})

test('members that are undefined are left out', () => {
  assert.equal(canonicalize({ b: undefined, a: null }), '{"a":null}')
})

for (const value of [Number.NaN, Number.POSITIVE_INFINITY, '\ud800', { '\udfff': 1 }, 1n, () => 1, [undefined]]) {
  test(`${String(value)} (${typeof value}) is rejected: it has no exact JSON`, () => {
    assert.throws(() => canonicalize(value), TypeError)
  })
}

test('any JSON value is preserved, and its canonical form does not depend on the order of its keys', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const text = canonicalize(value)
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)))
      assert.equal(canonicalize(reversed(value)), text)
    }),
  )
})

test('JSON.stringify of a value in canonical order is canonical', () => {
  const key = fc.string({ unit: 'grapheme' }).filter((name) => !/^\d+$/.test(name) && name !== '__proto__')
  const { value: anything } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.string(),
      fc.double({ noNaN: true }),
      fc.constant(null),
      tie('list'),
      tie('record'),
    ),
    list: fc.array(tie('value'), { maxLength: 4 }),
    record: fc.dictionary(key, tie('value'), { maxKeys: 5 }),
  }))
  fc.assert(
    fc.property(anything, (value) => {
      const plain: unknown = JSON.parse(JSON.stringify(value))
      assert.equal(JSON.stringify(inCanonicalOrder(plain)), canonicalize(plain))
    }),
  )
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  )
}
