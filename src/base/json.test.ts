import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Fault } from './fault.ts'
import { parseJsonObject } from './json.ts'

const rejected = (body: string | Buffer): void =>
  assert.throws(
    () => parseJsonObject(Buffer.from(body as string)),
    (error) => error instanceof Fault && error.code === 'invalid_json',
  )

describe('a JSON body', () => {
  it('is parsed like JSON.parse does', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'grapheme' }).filter(isHarmless), fc.jsonValue().filter(isHarmless)),
        (object) => {
          const text = JSON.stringify(object)
          assert.deepEqual(parseJsonObject(Buffer.from(text)), JSON.parse(text))
        },
      ),
    )
  })
  it('is rejected if it is not an object', () =>
    ['', 'null', '[]', '"a"', '1', '{} {}', '{"a":1,}', '\ufeff{}'].forEach(rejected))
  it('is rejected if it is not UTF-8', () =>
    rejected(Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])))
  it('is rejected if it is nested a hundred thousand levels deep', () => rejected(`{"a":${'['.repeat(100_000)}`))
  it('is rejected if it is nested more than a hundred levels deep, however long it is', () => {
    const nested = (levels: number, long = ''): string =>
      `{"text":"${long}","a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
    for (const long of ['', 'long '.repeat(100_000)]) {
      assert.doesNotThrow(() => parseJsonObject(Buffer.from(nested(100, long))))
      rejected(nested(101, long))
    }
  })
  it('is rejected if it has a million keys', () => rejected(`{${'"a":1,'.repeat(1_000_000)}"b":1}`))
  it('does not count brackets inside strings', () => {
    assert.deepEqual(parseJsonObject(Buffer.from(JSON.stringify({ a: `${'['.repeat(500)}\\"` }))), {
      a: `${'['.repeat(500)}\\"`,
    })
  })
  it('is rejected if a key names a prototype, in letters or in escapes', () => {
    rejected('{"__proto__":{"admin":true}}')
    rejected('{"a":[{"\\u005f_proto__":1}]}')
    rejected('{"constructor":{"prototype":{"admin":true}}}')
    assert.equal(({} as Record<string, unknown>)['admin'], undefined)
  })
  it('is rejected if a string contains half a surrogate pair or NUL', () => {
    rejected('{"a":"\\ud800"}')
    rejected('{"a":{"b":["x\\u0000y"]}}')
    rejected('{"\\ud800":1}')
  })
})

function isHarmless(value: unknown): boolean {
  const text = JSON.stringify(value)
  return !/prototype|__proto__|\\u0000|\\ud[89a-f]/i.test(text)
}
