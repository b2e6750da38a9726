import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createJsonReader } from './json-reader.ts'

const read = (chunks: readonly string[], maxValues = 1_000): unknown => {
  const reader = createJsonReader(maxValues)
  for (const chunk of chunks) reader.push(chunk)
  return reader.end()
}

const document = JSON.stringify({
  text: 'Line\nbreak, "quoted", back\\slash, \u0007, 漢字 😀',
  nested: [{ a: [] }, {}, [[1, -2.5e-7, 0], null, true, false]],
  ['a "key"\\']: '\\"',
  __proto__: 1,
  empty: '',
}).replace('漢', '\\u6f22')

describe('a JSON value in chunks', () => {
  it('is the same wherever it is split', () => {
    const whole: unknown = JSON.parse(document)
    for (let cut = 0; cut <= document.length; cut++) {
      assert.deepEqual(read([document.slice(0, cut), document.slice(cut)]), whole, `cut at ${cut}`)
    }
    assert.deepEqual(read(document.split('')), whole)
  })
  it('may be any JSON value, with white space around it', () => {
    for (const text of ['12', ' "a" ', '[]', 'null ', '\t{}\n', '-0.5', '""'])
      assert.deepEqual(read(text.split('')), JSON.parse(text))
  })
  it('keeps a key that names the prototype as a key', () => {
    const text = '{"__proto__":{"isAdmin":true}}'
    const value = read([text]) as object
    assert.deepEqual(Object.keys(value), ['__proto__'])
    assert.equal(Object.getPrototypeOf(value), Object.prototype)
  })
  for (const text of [
    '',
    '{',
    '[1,]',
    '{"a":1,}',
    '{"a"}',
    '{a:1}',
    '[1 2]',
    '[}',
    '{]',
    ']',
    '1 2',
    '"a',
    '"\n"',
    '"\\x"',
    '"\\u12"',
    'tru',
    '01',
    '{"a":1}}',
    '[,1]',
    '{"a"::1}',
    '"a""b"',
    '\\',
  ]) {
    it(`is rejected if it is not JSON: ${JSON.stringify(text)}`, () => {
      assert.throws(() => read([text]), SyntaxError)
      assert.throws(() => read(text.split('')), SyntaxError)
    })
  }
  it('is rejected if it has more values than allowed, or is nested too deeply', () => {
    assert.deepEqual(read(['[1,2,3]'], 4), [1, 2, 3])
    assert.throws(() => read(['[1,2,3]'], 3), RangeError)
    assert.throws(() => read(['['.repeat(201)]), RangeError)
    assert.throws(() => read(['1'.repeat(2_000)]), SyntaxError)
  })
})
