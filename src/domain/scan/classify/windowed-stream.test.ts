import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { perCategory } from './categories.ts'
import type { Classification, Classifier, ClassifierStream, DecisionPoint } from './classifier.ts'
import { createTieredClassifier } from './tiered.ts'
import { startClassifierStream } from './windowed-stream.ts'

const scored = (score: number): Classification => ({
  scores: perCategory((category) => (category === 'hate' ? score : 0)),
  flagged: score >= 0.5 ? ['hate'] : [],
})

/** A remote classifier that counts its calls: certain of `bad`, uncertain of `odd`. */
function createRemote(): Classifier & { readonly texts: string[] } {
  const texts: string[] = []
  return {
    texts,
    identity: { id: 'remote', version: '1', digest: '' },
    async classify(text) {
      texts.push(text)
      return scored(text.includes('bad') ? 0.95 : text.includes('odd') ? 0.4 : 0.01)
    },
  }
}

/** The decision points that a stream reports while a text is pushed in such chunks. */
async function pointsOf(
  stream: ClassifierStream,
  text: string,
  lengths: readonly number[],
): Promise<readonly DecisionPoint[]> {
  const points: DecisionPoint[] = []
  for (let at = 0, chunk = 0; at < text.length; chunk++) {
    const length = lengths[chunk % lengths.length] ?? 1
    await stream.push(text.slice(at, at + length))
    at += length
    points.push(...stream.reached())
  }
  return points
}

const words = fc.array(fc.constantFrom('the', 'gate', 'was', 'open', 'bad', 'odd'), { maxLength: 150, size: 'max' })

describe('the stream of a classifier of complete texts', () => {
  it('decides at the same decision points with the same result, however the text is cut', async () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 9 })
    await fc.assert(
      fc.asyncProperty(words, lengths, lengths, async (list, one, other) => {
        const text = list.join(' ')
        const stream = (): ClassifierStream => startClassifierStream(createRemote(), 'response')
        assert.deepEqual(await pointsOf(stream(), text, one), await pointsOf(stream(), text, other))
      }),
      { numRuns: 50 },
    )
  })

  it('calls the classifier once per 128 characters and covers the text up to there', async () => {
    const remote = createRemote()
    const stream = startClassifierStream(remote, 'response')
    for (let chunk = 0; chunk < 100; chunk++) await stream.push('gate ')
    assert.equal(remote.texts.length, 3)
    assert.equal(stream.settledTo(), 380)
  })

  it('covers all text when it is asked to peek at the end', async () => {
    const stream = startClassifierStream(createRemote(), 'response')
    await stream.push('an odd unfini')
    assert.equal(stream.settledTo(), 0)
    await stream.peekAtEnd()
    assert.equal(stream.settledTo(), 13)
    assert.equal(stream.peek().scores.hate, 0.4)
  })

  it('gives the whole text and the strongest decision point at the end', async () => {
    const stream = startClassifierStream(createRemote(), 'response')
    await stream.push(`an odd start ${'of a town '.repeat(80)}`)
    const { whole, decided } = await stream.end()
    assert.deepEqual([whole.scores.hate, decided?.scores.hate], [0.4, 0.4])
  })
})

describe('the stream of a tiered classifier', () => {
  it('calls the second classifier only at decision points where the first is uncertain', async () => {
    const second = createRemote()
    const tiered = createTieredClassifier({
      first: createRemote(),
      second,
      onFailure: (error) => assert.fail(String(error)),
    })
    const stream = startClassifierStream(tiered, 'response')
    await stream.push(`${'the gate was open '.repeat(40)}an odd word ${'the gate was open '.repeat(60)}`)
    assert.equal(second.texts.length, 4)
    assert.ok(second.texts.every((text) => text.includes('odd')))
    assert.deepEqual(stream.decided()?.flagged, [])
  })

  it('looks at every chunk with the stream of the first', async () => {
    const first: Classifier = {
      ...createRemote(),
      startStream: () => ({
        push: () => undefined,
        peek: () => scored(0.3),
        settledTo: () => 7,
        peekAtEnd: () => undefined,
        reached: () => [],
        decided: () => undefined,
        end: () => ({ whole: scored(0), decided: undefined }),
        [Symbol.dispose]: () => undefined,
      }),
    }
    const tiered = createTieredClassifier({
      first,
      second: createRemote(),
      onFailure: (error) => assert.fail(String(error)),
    })
    const stream = startClassifierStream(tiered, 'response')
    await stream.push('the gate')
    assert.deepEqual([stream.peek().scores.hate, stream.settledTo()], [0.3, 7])
  })
})
