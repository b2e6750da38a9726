import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { SynchronousStream } from '../../../domain/scan/classify/classifier.ts'
import { createEmbeddedClassifier } from './classifier.ts'

const classifier = createEmbeddedClassifier()

/** Scored words, symbols inside and between them, single letters, and characters that fold to zero, one or several. */
const fragments = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom('the ', 'gate ', 'Kill ', 'myself ', 'of ', 'want to die ', 'she is 14 ', 'I '),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom("don't ", 'k!ll ', 'f*ck', '$5 ', '$', "'", '*', '\n\n', '. ', ' ', '-', '’', '—'),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'k i l l ',
      'd.i.e. ',
      'a b ',
      "d o n ' t  m y  ",
      'x',
      'a'.repeat(40),
      ' '.repeat(60),
      '=-'.repeat(80),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('…', '™', 'é', 'e\u0301', '🙂', '\u200b', '🅺', '\ud83d', '\ude42', '日本', '㌖'),
  },
)
const homoglyphs = fc.constantFrom('кill ', 'убить ', 'нет войне, ', 'ὦ ')
const textOf = (parts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(parts, { maxLength: 250, size: 'max' }).map((list) => list.join(''))
const texts = fc.oneof(
  { weight: 3, arbitrary: textOf(fragments) },
  {
    weight: 1,
    arbitrary: textOf(fc.oneof({ weight: 20, arbitrary: fragments }, { weight: 1, arbitrary: homoglyphs })),
  },
)
const cuts = fc.array(fc.nat(60), { minLength: 1, maxLength: 20, size: 'max' })

/** Pushes the text in pieces of these sizes, again and again. Yields after every piece how much was pushed. */
function* pushAll(stream: SynchronousStream, text: string, sizes: readonly number[]): Generator<number> {
  for (let at = 0, piece = 0; at < text.length; piece++) {
    const size = (sizes[piece % sizes.length] ?? 0) + (piece % sizes.length === 0 ? 1 : 0)
    stream.push(text.slice(at, at + size))
    at = Math.min(text.length, at + size)
    yield at
  }
}

function streamed(text: string, sizes: readonly number[]): SynchronousStream {
  const stream = classifier.startStream('response')
  for (const end of pushAll(stream, text, sizes)) assert.ok(end <= text.length)
  return stream
}

/** Every decision point of a text, with the strongest classification up to it. */
function pointsOf(text: string, sizes: readonly number[]): Map<number, unknown> {
  const stream = classifier.startStream('response')
  const points = new Map<number, unknown>()
  const note = (): void => {
    for (const { end, classification } of stream.reached()) points.set(end, classification)
    assert.deepEqual([...points.values()].at(-1), stream.decided())
  }
  for (const end of pushAll(stream, text, sizes)) if (end > 0) note()
  stream.end()
  note()
  return points
}

describe('a text that streams', () => {
  it('gets as a whole the classification of the complete text, however it is cut', () => {
    fc.assert(
      fc.property(texts, cuts, (text, sizes) => {
        const stream = streamed(text, sizes)
        assert.deepEqual(stream.end().whole, classifier.classify(text, 'response'))
      }),
      { numRuns: 300 },
    )
  })

  it('has the same result at its end as a text that is read at once, also beside another stream', () => {
    fc.assert(
      fc.property(texts, cuts, fc.boolean(), (text, sizes, isBeside) => {
        const stream = streamed(text, sizes)
        const other = isBeside ? streamed(text, [7]) : undefined
        const atOnce = classifier.classifyWhole?.(text, 'response')
        for (const one of other === undefined ? [stream] : [other, stream]) {
          const { whole, decided } = one.end()
          assert.deepEqual({ whole, decided }, atOnce)
        }
      }),
      { numRuns: 300 },
    )
  })

  it('has the same decision points and the same classification at each, however it is cut', () => {
    fc.assert(
      fc.property(texts, cuts, (text, sizes) => {
        const everyPoint = pointsOf(text, [0])
        const points = pointsOf(text, sizes)
        assert.deepEqual([...points], [...everyPoint])
      }),
      { numRuns: 300 },
    )
  })

  it('reports every decision point that a push reaches, however long the push is', () => {
    fc.assert(
      fc.property(texts, cuts, (text, sizes) => {
        const reached = pointsOf(text, sizes)
        const whole = classifier.startStream('response')
        whole.push(text)
        const points = whole.reached()
        whole.end()
        const all = [...points, ...whole.reached()].map(({ end, classification }) => [end, classification] as const)
        assert.deepEqual([...reached], all)
      }),
      { numRuns: 200 },
    )
  })

  it('has a decision point at every 24th word, and otherwise 128 characters after the last one', () => {
    const words = Array.from({ length: 100 }, (_, at) => `w${String.fromCharCode(97 + (at % 26))}`)
    const ends = words.map((_, at) => words.slice(0, at + 1).join(' ').length)
    assert.deepEqual([...pointsOf(`${words.join(' ')} `, [0]).keys()], [ends[23], ends[47], ends[71], ends[95]])
    assert.deepEqual([...pointsOf('. '.repeat(200), [0]).keys()], [128, 256, 384])
    const everyLetter = Array.from({ length: 12 }, (_, at) => 24 * (at + 1))
    assert.deepEqual([...pointsOf('語'.repeat(300), [3]).keys()], everyLetter, 'each is a word')
    assert.equal(pointsOf('語'.repeat(9_000), [0]).size, 375)
  })

  it('is looked at up to the unfinished word, with the result of the same text alone, however it is cut', () => {
    fc.assert(
      fc.property(texts, cuts, (text, sizes) => {
        const stream = classifier.startStream('response')
        for (const end of pushAll(stream, text, sizes)) {
          const single = classifier.startStream('response')
          single.push(text.slice(0, end))
          assert.equal(stream.settledTo(), single.settledTo())
          assert.deepEqual(stream.peek(), single.peek())
          assert.ok(stream.settledTo() <= end)
          for (const point of stream.reached()) assert.ok(point.end <= stream.settledTo())
        }
      }),
      { numRuns: 60 },
    )
  })

  it('is looked at to its end on demand, without a change to what follows', () => {
    fc.assert(
      fc.property(texts, cuts, (text, sizes) => {
        const stream = classifier.startStream('response')
        for (const end of pushAll(stream, text, sizes)) {
          const settled = stream.settledTo()
          const peeked = stream.peek()
          stream.peekAtEnd()
          assert.equal(stream.settledTo(), end)
          stream.peek()
          stream.push('')
          assert.equal(stream.settledTo(), settled)
          assert.deepEqual(stream.peek(), peeked)
        }
        assert.deepEqual(stream.end().whole, classifier.classify(text, 'response'))
      }),
      { numRuns: 60 },
    )
  })

  it('is not disturbed by other texts that stream at the same time', () => {
    fc.assert(
      fc.property(fc.array(texts, { minLength: 2, maxLength: 4 }), cuts, (list, sizes) => {
        const streams = list.map((text) => ({ text, at: 0, stream: classifier.startStream('response') }))
        for (let piece = 0; streams.some(({ at, text }) => at < text.length); piece++) {
          for (const each of streams) {
            const size = (sizes[piece % sizes.length] ?? 0) + 1
            each.stream.push(each.text.slice(each.at, each.at + size))
            each.at += size
          }
        }
        for (const { text, stream } of streams) {
          const alone = classifier.startStream('response')
          alone.push(text)
          assert.deepEqual(stream.peek(), alone.peek())
          assert.deepEqual(stream.end(), alone.end())
        }
      }),
      { numRuns: 60 },
    )
  })

  it('keeps a word back until it is finished, and single letters until they cannot spell a word', () => {
    const settledAfter = (...pushes: readonly string[]): number => {
      const stream = classifier.startStream('response')
      for (const push of pushes) stream.push(push)
      return stream.settledTo()
    }
    assert.equal(settledAfter('hello wor'), 6)
    assert.equal(settledAfter('hello wor', 'ld'), 6)
    assert.equal(settledAfter('hello world '), 12)
    assert.equal(settledAfter("don'"), 0)
    assert.equal(settledAfter('k i'), 0)
    assert.equal(settledAfter('k i l l'), 0)
    assert.equal(settledAfter('k i l l, and '), 13)
    assert.equal(settledAfter('cafe\u0301 … 🙂 wor'), 11)
    assert.equal(settledAfter('so \ud83d'), 3)
  })

  it('keeps its classification when it is long', () => {
    const text = 'k i l l the gate of a town, or d.o n.o.t and 😀 he said… '.repeat(400)
    const stream = streamed(text, [700])
    assert.deepEqual(stream.end().whole, classifier.classify(text, 'response'))
  })

  it('may be disposed of at any time, and twice', () => {
    const stream = classifier.startStream('response')
    stream.push('one two three ')
    stream[Symbol.dispose]()
    stream[Symbol.dispose]()
    const other = classifier.startStream('response')
    other.push('one two three ')
    assert.equal(other.settledTo(), 14)
  })
})
