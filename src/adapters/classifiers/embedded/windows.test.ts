import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createToLetters } from './letters.ts'
import { gather, windowsOf } from './windows.ts'
import { createWordCache } from './word-cache.ts'

describe('windows', () => {
  it('cover every bucket, are of one length, and end with the text', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.constantFrom(1, 2, 4), (buckets, length) => {
        const windows = windowsOf(buckets, length)
        const covered = new Set(
          windows.flatMap(([first, end]) => Array.from({ length: end - first }, (_, at) => first + at)),
        )
        assert.equal(covered.size, buckets)
        assert.equal(windows.at(-1)?.[1], buckets)
        for (const [first, end] of windows) assert.equal(end - first, Math.min(buckets, length))
      }),
    )
  })

  it('of an empty text do not exist', () => assert.deepEqual(windowsOf(0, 2), []))

  it('together score between their mean and their highest, and at most one under it', () => {
    assert.equal(gather([3]), 3)
    assert.equal(gather([2, 2, 2]), 2)
    assert.equal(gather([5, ...Array.from({ length: 50 }, () => -9)]), 4)
    assert.ok(gather([2, 1]) < 2 && gather([2, 1]) > 1.5)
  })
})

describe('the word cache', () => {
  const toLetters = createToLetters()

  it('computes the facts of a token once, and again only after many others', () => {
    const learnt: string[] = []
    const wordCache = createWordCache((token) => {
      learnt.push(token)
      return { token }
    }, 4)
    const lookup = (text: string): string => wordCache(toLetters(text), 0, text.length).token
    for (const token of ['a', 'b', 'a', 'ab', 'b']) assert.equal(lookup(token), token)
    assert.equal(wordCache(toLetters('xaby'), 1, 3).token, 'ab')
    assert.deepEqual(learnt, ['a', 'b', 'ab'])
    for (const token of ['c', 'd', 'e', 'a', 'f', 'g', 'h']) lookup(token)
    lookup('a') // a hit moves it to the young generation
    assert.deepEqual(learnt, ['a', 'b', 'ab', 'c', 'd', 'e', 'f', 'g', 'h'])
    lookup('b')
    assert.equal(learnt.at(-1), 'b')
  })

  it('gives the same facts as without a cache', () => {
    const wordCache = createWordCache((token) => ({ token }), 8)
    fc.assert(
      fc.property(fc.string({ maxLength: 3 }), (token) =>
        assert.equal(wordCache(toLetters(token), 0, token.length).token, token),
      ),
    )
  })
})
