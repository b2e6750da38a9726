import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createLookBehind, maxUncounted, lookBehind } from './look-behind.ts'

describe('measuring text backwards', () => {
  it('counts a run of white space once and invisible characters not at all', () => {
    assert.equal(lookBehind('ab  \n cd', 8, 3), 5)
    assert.equal(lookBehind('ab  \n cd', 8, 4), 1)
    assert.equal(lookBehind('a\u200bb🙂c', 6, 3), 2)
    assert.equal(lookBehind('abc', 3, 9), 0)
  })

  it('skips a bounded number of characters in a text of white space or invisible characters', () => {
    for (const blank of [' ', '\u200b']) {
      const text = blank.repeat(5_000)
      assert.ok(lookBehind(text, 5_000, 10) >= 5_000 - maxUncounted - 10)
      assert.equal(createLookBehind()(text, 5_000, 10), lookBehind(text, 5_000, 10))
    }
  })

  it('gives the same position in a text that grows, from every end', () => {
    const fragments = fc.constantFrom(
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
      ' '.repeat(maxUncounted - 1),
    )
    const measurements = fc.array(fc.tuple(fc.oneof(fc.nat(20), fc.nat(2_000)), fc.nat(10), fc.nat(30)), {
      maxLength: 20,
    })
    fc.assert(
      fc.property(fc.array(fragments, { maxLength: 60, size: 'max' }), measurements, (list, steps) => {
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
