import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createEmbeddedClassifier, loadModel } from './classifier.ts'

const classifier = createEmbeddedClassifier(loadModel())

/** Scored words, symbols inside and between them, single letters, and characters that fold to zero, one or several. */
const fragments = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom('the ', 'gate ', 'kill ', 'myself ', 'of ', 'want to die ', 'she is 14 ', 'I '),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom("don't ", 'k!ll ', 'f*ck', '$5 ', '$', "'", '*', '\n\n', '. ', ' ', '-', '’', '—'),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('k i l l ', 'd.i.e. ', 'a b ', 'x', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('…', '™', 'é', 'e\u0301', '🙂', '\u200b', '🅺', '\ud83d', 'кill ', 'убить ', '日本'),
  },
)
const texts = fc.array(fragments, { maxLength: 150, size: 'max' }).map((list) => list.join(''))
/** How far the text has grown, and the range to score, as fractions. */
const ranges = fc.array(fc.tuple(fc.nat(40), fc.nat(1000), fc.nat(60)), { minLength: 1, maxLength: 30, size: 'max' })

describe('a streamed text', () => {
  it('gets in every range the scores of that range alone, however it is cut', () => {
    fc.assert(
      fc.property(texts, ranges, (text, steps) => {
        const classifyRange = classifier.startRanges('response')
        let grown = 0
        for (const [more, back, before] of steps) {
          grown = Math.min(text.length, grown + more)
          const end = Math.max(0, grown - before)
          const start = Math.max(0, end - back)
          assert.deepEqual(
            classifyRange(text.slice(0, grown), { start, end }),
            classifier.classify(text.slice(start, end), 'response'),
          )
        }
      }),
      { numRuns: 300 },
    )
  })

  it('keeps its scores when it is long', () => {
    const classifyRange = classifier.startRanges('response')
    const text = 'k i l l the gate of a town, or d.o n.o.t '.repeat(900)
    for (let grown = 0; grown <= text.length; grown += 700) {
      for (const start of [0, grown - 5_000, grown - 512].map((place) => Math.max(0, place)))
        assert.deepEqual(
          classifyRange(text.slice(0, grown), { start, end: grown }),
          classifier.classify(text.slice(start, grown), 'response'),
        )
    }
  })

  it('keeps its scores when its words were evicted in between', () => {
    const classifyRange = classifier.startRanges('response')
    const text = 'the cat and the dog and the cat sat on the mat and the dog sat on the cat'
    classifyRange(text.slice(0, 40), { start: 0, end: 40 })
    for (let count = 0; count < 60_000; count += 10)
      classifier.classify(Array.from({ length: 10 }, (_, at) => `v${(count + at).toString(36)}`).join(' '), 'request')
    assert.deepEqual(classifyRange(text, { start: 0, end: text.length }), classifier.classify(text, 'response'))
  })
})
