import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { countNulTexts, toCopyLine } from './copy-text.ts'

describe('a line for copy', () => {
  it('separates values with tabs and ends with a line feed', () => {
    assert.equal(toCopyLine(['a', 1n, 1.5]), 'a\t1\t1.5\n')
  })

  it('escapes what separates values and lines, and the escape itself', () => {
    assert.equal(toCopyLine(['a\tb\nc\rd\\e']), 'a\\tb\\nc\\rd\\\\e\n')
  })

  it('tells null from an empty text and from a text that looks like null', () => {
    assert.equal(toCopyLine([null, '', '\\N']), '\\N\t\t\\\\N\n')
  })

  it('writes bytes in hexadecimal', () => {
    assert.equal(toCopyLine([Uint8Array.of(0, 255), new Uint8Array()]), '\\\\x00ff\t\\\\x\n')
  })

  it('keeps integers that a number does not hold exactly', () => {
    assert.equal(toCopyLine([9_223_372_036_854_775_807n]), '9223372036854775807\n')
  })

  it('replaces NUL, which PostgreSQL does not store, by a character of the same length', () => {
    const line = toCopyLine(['a\0b\0'])
    assert.equal(line, 'a\u001ab\u001a\n')
    assert.equal(Buffer.byteLength(line), 5)
    assert.equal(countNulTexts(['a\0b\0', 'c', null, '\0']), 2)
  })
})
