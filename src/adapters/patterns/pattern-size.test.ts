import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { RE2JS } from 're2js'
import { estimatePatternSize } from './pattern-size.ts'
import { compileSized } from './re2.ts'

describe('the size of a pattern', () => {
  for (const source of [
    'abc',
    '(?i)project\\s+x',
    'a{500}',
    '(ab){3,100}c',
    '((a{10}){10}){9}',
    '[^]a-z\\]]{20}',
    '\\d{3}-\\d{2}',
    '(a|b)*a(a|b){200}[cd]',
    '(abcdefghij){100}',
    'x{2,}',
  ]) {
    it(`of ${source} is estimated before it is compiled`, () => {
      const real = RE2JS.compile(source).programSize()
      const estimate = estimatePatternSize(source)
      assert.ok(real <= estimate * 4 + 10 && estimate <= real + 10, `${estimate} for ${real}`)
    })
  }

  it('is estimated for invalid patterns without an error', () => {
    for (const source of ['', '(((', ')))', '[', '[^', '\\', '{5}', '{', 'a{', 'a{,5}', 'a{99999999999}'])
      estimatePatternSize(source)
  })

  it('is limited to a thousand instructions', () => {
    assert.ok(compileSized('a{900}').test('a'.repeat(900)))
    assert.throws(() => compileSized('(ab){600}'), /too large/)
  })
})
