import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  createFakeEncoder,
  createSilentEncoder,
  createSlowEncoder,
  type FakeEncoder,
} from '../../../../test/support/fake-encoder.ts'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { wordClassifier } from '../../../../test/support/word-classifier.ts'
import { createEmbeddedClassifier } from '../../../adapters/classifiers/embedded/classifier.ts'
import { isPromise } from '../../../base/maybe-promise.ts'
import { categories } from './categories.ts'
import { createCascade, type CascadeParts } from './cascade.ts'
import { readsAll, type Classification, type ClassifierStream, type DecisionPoint } from './classifier.ts'
import { slicesOf } from '../normalise/slices.ts'
import { wholeMode } from '../stream/stream-modes.ts'
import { startClassifierStream } from './windowed-stream.ts'

const embedded = createEmbeddedClassifier()

const cascadeOf = (encoder: FakeEncoder, parts: Partial<CascadeParts> = {}) =>
  createCascade({ first: embedded, encoder, clock: createHandClock().clock, onResult: () => undefined, ...parts })

type Cut = readonly number[]

function* chunksOf(text: string, lengths: Cut): Generator<string> {
  for (let at = 0, chunk = 0; at < text.length; chunk++) {
    const length = lengths[chunk % lengths.length] ?? 1
    yield text.slice(at, at + length)
    at += length
  }
}

/** Everything that a stream reports about a text. */
async function reportsOf(stream: ClassifierStream, text: string, cut: Cut) {
  const points: DecisionPoint[] = []
  for (const chunk of chunksOf(text, cut)) {
    await stream.push(chunk)
    points.push(...stream.reached())
  }
  const { whole, decided } = await stream.end()
  return { points, whole, decided }
}

/** Without the marks of the second stage. */
const scoresOf = ({ scores, flagged }: Classification) => ({ scores, flagged: new Set(flagged) })

const sentences = [
  'the gate of a town was open and nobody said what they saw',
  'I want to kill myself',
  'you are such a stupid idiot and I hate all of you',
  'they talked about the suicide of a character in that play',
  'she was naked in the story',
  'it’s a naïve plan',
  '\n\n',
]
const texts = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant(sentences[0] ?? '') },
      { weight: 2, arbitrary: fc.constantFrom(...sentences) },
    ),
    { maxLength: 40, size: 'max' },
  )
  .map((list) => list.join('. '))
const cuts = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 9 })

/** Logits that depend on the text alone. */
const judge = (text: string) => ({ 'self-harm': (text.length % 7) - 3, hate: (text.length % 5) - 2 })

describe('the stream of a cascade', () => {
  it('has the same decision points and scores however the text is cut and in whatever order the encoder answers', async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.tuple(cuts, cuts), fc.scheduler(), async (text, [one, other], scheduler) => {
        const plain = cascadeOf(createFakeEncoder(judge))
        const shuffled = cascadeOf(createFakeEncoder((window) => scheduler.schedule(Promise.resolve(judge(window)))))
        const both = Promise.all([
          reportsOf(shuffled.startStream?.('response') ?? assert.fail(), text, other),
          reportsOf(shuffled.startStream?.('response') ?? assert.fail(), text, one),
        ])
        await scheduler.waitFor(both)
        const [first, second] = await both
        const expected = await reportsOf(plain.startStream?.('response') ?? assert.fail(), text, one)
        assert.deepEqual(first, expected)
        assert.deepEqual(second, expected)
      }),
      { numRuns: 60 },
    )
  })

  it('gives the complete text the same result as a text that is classified at once', async () => {
    await fc.assert(
      fc.asyncProperty(texts, cuts, async (text, cut) => {
        const cascade = cascadeOf(createFakeEncoder(judge))
        const { whole } = await reportsOf(cascade.startStream?.('response') ?? assert.fail(), text, cut)
        assert.deepEqual(whole, await cascade.classify(text, 'response'))
      }),
      { numRuns: 60 },
    )
  })

  it('ends with the result of a text that is read at once, unless the encoder must read it', async () => {
    const { classifyWhole } = cascadeOf(createFakeEncoder(judge))
    assert.ok(classifyWhole?.('A man rides a bicycle along a river next to a train. '.repeat(30), 'response'))
    assert.equal(classifyWhole?.('I want to kill myself', 'response'), undefined)
    await fc.assert(
      fc.asyncProperty(texts, cuts, async (text, cut) => {
        const cascade = cascadeOf(createFakeEncoder(judge))
        const atOnce = cascade.classifyWhole?.(text, 'response')
        const { whole, decided } = await reportsOf(cascade.startStream?.('response') ?? assert.fail(), text, cut)
        if (atOnce !== undefined) assert.deepEqual(atOnce, { whole, decided })
      }),
      { numRuns: 60 },
    )
  })

  it('has the decision points and scores of the first stage if the encoder fails', async () => {
    await fc.assert(
      fc.asyncProperty(texts, cuts, async (text, cut) => {
        const failing = cascadeOf(createFakeEncoder(() => Promise.reject(new Error('no worker'))))
        const alone = await reportsOf(embedded.startStream('response'), text, cut)
        const reported = await reportsOf(failing.startStream?.('response') ?? assert.fail(), text, cut)
        const plain = (points: readonly DecisionPoint[]) =>
          points.map(({ end, classification }) => ({ end, ...scoresOf(classification) }))
        assert.deepEqual(plain(reported.points), plain(alone.points))
        assert.deepEqual(scoresOf(reported.whole), scoresOf(alone.whole))
        const isFlagged = alone.points.some(({ classification }) => classification.flagged.length > 0)
        if (isFlagged) assert.equal(reported.decided?.stage, 'linear_encoder_failed')
      }),
      { numRuns: 60 },
    )
  })

  it('never waits for text that is far from every threshold', () => {
    const encoder = createFakeEncoder(() => assert.fail('the encoder is not asked'))
    const stream = cascadeOf(encoder).startStream?.('response') ?? assert.fail()
    for (const chunk of chunksOf('A man rides a bicycle along a river next to a train. '.repeat(30), [11]))
      assert.ok(!isPromise(stream.push(chunk)))
    assert.ok(!isPromise(stream.end()))
  })

  it('waits 150 ms for an encoder that never answers, once', async () => {
    await fc.assert(
      fc.asyncProperty(texts, cuts, async (text, cut) => {
        const hand = createHandClock()
        const stream =
          cascadeOf(createSilentEncoder(), { clock: hand.clock }).startStream?.('response') ?? assert.fail()
        let waits = 0
        for (const chunk of chunksOf(text, cut)) {
          const pushed = stream.push(chunk)
          if (!isPromise(pushed)) continue
          waits += 1
          hand.advance(149)
          assert.equal(hand.waiting(), 1)
          hand.advance(1)
          await pushed
        }
        const ended = stream.end()
        if (isPromise(ended)) {
          waits += 1
          hand.advance(150)
        }
        await ended
        assert.ok(waits <= 1)
        assert.equal(hand.waiting(), 0)
      }),
      { numRuns: 60 },
    )
  })

  it('asks once per 256 characters while the first stage flags nothing, about at most 512 characters', async () => {
    const encoder = createFakeEncoder(() => ({}))
    const stream = cascadeOf(encoder, { first: wordClassifier }).startStream?.('response') ?? assert.fail()
    const text = 'grave words and the gate of the town was open '.repeat(20)
    await reportsOf(stream, text, [97])
    const ofPlaces = encoder.texts.filter((window) => window.length <= 520)
    assert.ok(ofPlaces.length > 1 && ofPlaces.length <= text.length / 256 + 1)
  })

  it('asks once per 256 characters about decision points that the first stage flags, and holds their text back until then', async () => {
    const encoder = createFakeEncoder(() => ({}))
    const stream = cascadeOf(encoder, { first: wordClassifier }).startStream?.('response') ?? assert.fail()
    const line = 'noose and the gate of the town was open '
    for (const chunk of chunksOf(line.repeat(6), [17])) await stream.push(chunk)
    assert.equal(encoder.texts.length, 1)
    assert.deepEqual([stream.decided()?.flagged, stream.peek().flagged], [[], ['self-harm']])
    for (const chunk of chunksOf(line.repeat(2), [17])) await stream.push(chunk)
    assert.equal(encoder.texts.length, 2)
    assert.deepEqual([stream.decided()?.flagged, stream.peek().flagged], [[], []])
  })

  it('reads what it has left when the text ends', async () => {
    const encoder = createFakeEncoder((text) => ({ 'self-harm': text.includes('end') ? 5 : -5 }))
    const cascade = cascadeOf(encoder, { first: wordClassifier })
    const text = 'noose and the gate of the town was open noose and the gate of the town was the end '
    const ended = cascade.startStream?.('response') ?? assert.fail()
    assert.deepEqual((await reportsOf(ended, text, [9])).decided?.flagged, ['self-harm'])
    const sliced = cascade.startStream?.('response') ?? assert.fail()
    for (const chunk of chunksOf(text, [9])) await sliced.push(chunk)
    assert.deepEqual(sliced.decided()?.flagged, [])
    await sliced.decideRest?.()
    assert.deepEqual(sliced.decided()?.flagged, ['self-harm'])
  })

  it('holds back new words that the first stage flags, after words that the encoder has lowered', async () => {
    const stream =
      cascadeOf(
        createFakeEncoder(() => ({})),
        { first: wordClassifier },
      ).startStream?.('response') ?? assert.fail()
    await stream.push('noose and the gate of the town was ')
    assert.deepEqual(stream.decided()?.stage, 'encoder')
    await stream.push('open and the ')
    assert.deepEqual(stream.peek().flagged, [])
    await stream.push('noose ')
    assert.deepEqual(stream.peek().flagged, ['self-harm'])
  })

  it('passes a denial of the first stage that the encoder does not confirm, and does not hold its text back', async () => {
    const stream = cascadeOf(createFakeEncoder(() => ({}))).startStream?.('response') ?? assert.fail()
    const text = `${'and the gate of the town was open '.repeat(3)}I want to kill myself, ${'and the gate of the town was open '.repeat(3)}`
    const alone = await reportsOf(embedded.startStream('response'), text, [5])
    assert.deepEqual(alone.decided?.flagged, ['self-harm'])
    for (const chunk of chunksOf(text, [5])) await stream.push(chunk)
    assert.deepEqual(stream.decided()?.flagged, [])
    assert.ok(categories.every((category) => stream.peek().scores[category] < 0.5))
  })

  it('gives a text that arrives as a whole as much time as a request', async () => {
    const hand = createHandClock()
    const stream = cascadeOf(createSilentEncoder(), { clock: hand.clock }).startStream?.('response') ?? assert.fail()
    const pushed = stream.push(`I want to kill myself, ${'and the gate of the town was open '.repeat(8)}`, true)
    hand.advance(999)
    assert.equal(hand.waiting(), 1)
    hand.advance(1)
    await pushed
    assert.equal(stream.decided()?.stage, 'linear_encoder_late')
  })

  describe('with an encoder that takes its time', () => {
    /** Subtitles. No two are the same, because the encoder reads a window only once. */
    const subtitles = (characters: number): string =>
      Array.from(
        { length: characters / 100 },
        (_, at) => `${at}. "You are such a stupid idiot and I hate you," she says to him in the film, and they leave. `,
      ).join('')

    for (const [characters, chunk] of [
      [3_200, 20],
      [8_000, 20],
      [8_000, 2_000],
    ] as const) {
      it(`gives ${characters} characters in chunks of ${chunk} the result of the complete text`, async () => {
        const hand = createHandClock()
        const encoder = createSlowEncoder(hand.clock, () => ({ harassment: -4, hate: -4 }))
        const cascade = cascadeOf(encoder, { clock: hand.clock })
        const text = subtitles(characters)
        assert.ok(embedded.classify(text, 'response').flagged.includes('harassment'))
        const stream = cascade.startStream?.('response') ?? assert.fail()
        const { whole, decided } = await hand.passUntil(reportsOf(stream, text, [chunk]))
        assert.deepEqual(whole, await hand.passUntil(cascade.classify(text, 'response')))
        assert.deepEqual([whole.stage, whole.flagged, decided?.flagged], ['encoder', [], []])
      })
    }

    it('reads a text of several slices in time, and leaves one window for the end', async () => {
      const hand = createHandClock()
      const encoder = createSlowEncoder(hand.clock, () => ({ harassment: -4, hate: -4 }))
      const classifier = cascadeOf(encoder, { clock: hand.clock })
      const stream = startClassifierStream(classifier, 'response')
      const text = subtitles(20_000)
      for (const chunk of chunksOf(text, [20])) await hand.passUntil(stream.push(chunk))
      const readBefore = encoder.texts.length
      const mode = wholeMode({ classifier, direction: 'response', reader: readsAll, stream }, text)
      for (const slice of slicesOf(text)) {
        const { stage, flagged } = await hand.passUntil(mode.classify(slice))
        assert.deepEqual([stage, flagged], ['encoder', []])
      }
      assert.ok(encoder.texts.length <= readBefore + 2)
    })

    it('decides at decision points also after it was late for a window that is needed only at the end', async () => {
      const hand = createHandClock()
      const { promise: never } = Promise.withResolvers<Record<string, number>>()
      const encoder = createFakeEncoder((text) => (text.length > 600 ? never : { harassment: -4, hate: -4 }))
      const stream = cascadeOf(encoder, { clock: hand.clock }).startStream?.('response') ?? assert.fail()
      for (const chunk of chunksOf(subtitles(5_000), [20])) await hand.passUntil(stream.push(chunk))
      assert.ok(hand.clock.nowMs() < 300, 'it waits for one such window')
      assert.deepEqual([stream.decided()?.stage, stream.decided()?.flagged], ['encoder', []])
    })

    it('has the time to read a complete text of 6,000 characters', async () => {
      const hand = createHandClock()
      const encoder = createSlowEncoder(hand.clock, () => ({ harassment: -4, hate: -4 }))
      const stream = cascadeOf(encoder, { clock: hand.clock }).startStream?.('response') ?? assert.fail()
      await hand.passUntil(stream.push(subtitles(6_000), true))
      const { whole, decided } = await hand.passUntil(stream.end())
      assert.deepEqual([whole.stage, whole.flagged, decided?.flagged], ['encoder', [], []])
    })
  })
})
