import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createLookBehind, mostUncounted, lookBehind } from './look-behind.ts'

describe('counting back', () => {
  it('counts white space once, and what is invisible not at all', () => {
    assert.equal(lookBehind('ab  \n cd', 8, 3), 5)
    assert.equal(lookBehind('ab  \n cd', 8, 4), 1)
    assert.equal(lookBehind('a\u200bb🙂c', 6, 3), 2)
    assert.equal(lookBehind('abc', 3, 9), 0)
  })

  it('does not go over a text of nothing else again and again', () => {
    for (const nothing of [' ', '\u200b']) {
      const text = nothing.repeat(5_000)
      assert.ok(lookBehind(text, 5_000, 10) >= 5_000 - mostUncounted - 10)
      assert.equal(createLookBehind()(text, 5_000, 10), lookBehind(text, 5_000, 10))
    }
  })

  it('leads to the same place in a text that grows, wherever one looks from', () => {
    const pieces = fc.constantFrom(
      'a',
      'word',
      ' ',
      '  ',
      '\n\n',
      '\t',
      '’',
      'é',
      '\u00a0',
      '\u200b',
      '🙂',
      '\ud83d',
      '\udc00',
      ' '.repeat(mostUncounted - 1),
    )
    const looks = fc.array(fc.tuple(fc.oneof(fc.nat(20), fc.nat(2_000)), fc.nat(10), fc.nat(30)), { maxLength: 20 })
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60, size: 'max' }), looks, (list, steps) => {
        const text = list.join('')
        const growing = createLookBehind()
        let grown = 0
        for (const [more, before, count] of steps) {
          grown = Math.min(text.length, grown + more)
          const end = Math.max(0, grown - before)
          assert.equal(growing(text.slice(0, grown), end, count), lookBehind(text.slice(0, grown), end, count))
        }
      }),
      { numRuns: 1_000 },
    )
  })
})
