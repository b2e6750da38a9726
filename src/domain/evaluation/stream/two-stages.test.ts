import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { isPromise } from '../../../base/maybe-promise.ts'
import { plainContext } from '../../../../test/support/evaluation-context.ts'
import { createFakeEncoder, createSilentEncoder, type FakeEncoder } from '../../../../test/support/fake-encoder.ts'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { holdBackPolicyOf, prefilterOf } from '../../../../test/support/policy-prefilter.ts'
import { createEmbeddedClassifier } from '../../../adapters/classifiers/embedded/classifier.ts'
import { createCascade } from '../../scan/classify/cascade.ts'
import { readsAll } from '../../scan/classify/classifier.ts'
import { startClassifierStream } from '../../scan/classify/windowed-stream.ts'
import { wholeMode } from '../../scan/stream/stream-modes.ts'
import { createScanText } from '../../scan/scan.ts'
import { slicesOf } from '../../scan/normalise/slices.ts'
import { createEvaluate } from '../evaluate.ts'
import { planFor } from '../plan.ts'
import { emptyRulebook } from '../rulebook.ts'
import { isDenied } from '../verdict/combine.ts'
import { evaluateBlock } from './evaluate-block.ts'
import { createStreamScanner, type StreamScannerParts } from './stream-scanner.ts'

const embedded = createEmbeddedClassifier()
const pause = async (): Promise<void> => {}
const plan = planFor(emptyRulebook, plainContext)

function partsWith(encoder: FakeEncoder, clock = createHandClock().clock): StreamScannerParts {
  const classifier = createCascade({ first: embedded, encoder, clock, onResult: () => undefined })
  const scanText = createScanText({ classifier, pause, cacheEntries: 0 })
  const evaluate = createEvaluate({
    scanText,
    pause,
    canRephrase: false,
    failsOpen: false,
    cacheEntries: 0,
    prefilterOf,
  })
  return {
    plan,
    holdBack: holdBackPolicyOf(plan, false),
    evaluate,
    evaluateUncached: evaluate,
    pause,
    classifier,
  }
}

const texts = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constant('the gate of a town was open and nobody said what they saw') },
      {
        weight: 1,
        arbitrary: fc.constantFrom('I want to kill myself', 'they spoke about his suicide', '\n\n', 'it’s naïve'),
      },
    ),
    { maxLength: 30, size: 'max' },
  )
  .map((list) => list.join('. '))
const cuts = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 9 })

const cutText = (text: string, lengths: readonly number[]): readonly string[] => {
  const chunks: string[] = []
  for (let at = 0; at < text.length; at += chunks.at(-1)?.length ?? 1)
    chunks.push(text.slice(at, at + (lengths[chunks.length % lengths.length] ?? 1)))
  return chunks
}

describe('a stream scanner with both stages of the classifier', () => {
  it('gives a streamed text the verdict of the text that arrives as a whole', async () => {
    const parts = partsWith(createFakeEncoder((text) => ({ 'self-harm': (text.length % 7) - 3 })))
    await fc.assert(
      fc.asyncProperty(texts, cuts, async (text, cut) => {
        const whole = createStreamScanner(parts)
        whole.push(text)
        const expected = isDenied((await whole.end()).verdict)
        const scanner = createStreamScanner(parts)
        let isTextDenied = false
        for (const chunk of cutText(text, cut)) {
          scanner.push(chunk)
          isTextDenied ||= (await scanner.scan()) !== undefined
        }
        isTextDenied ||= isDenied((await scanner.end()).verdict)
        assert.equal(isTextDenied, expected)
        assert.equal(isDenied((await evaluateBlock(parts, text)).evaluation.verdict), expected)
      }),
      { numRuns: 60 },
    )
  })

  it('sends text that the first stage alone would deny, if the encoder does not confirm it', async () => {
    const text = `${'and the gate of the town was open '.repeat(4)}I want to kill myself, she says in the play, ${'and the gate of the town was open '.repeat(4)}`
    const scannerOf = (encoder: FakeEncoder) => {
      const scanner = createStreamScanner(partsWith(encoder))
      scanner.push(text)
      return scanner
    }
    const confirmed = await scannerOf(createFakeEncoder(() => ({ 'self-harm': 5 }))).scan()
    assert.deepEqual(confirmed?.findings.categories, ['self-harm'])
    const lowered = scannerOf(createFakeEncoder(() => ({})))
    assert.equal(await lowered.scan(), undefined)
    assert.ok(lowered.cleared() > text.length - 20)
    assert.equal(isDenied((await lowered.end()).verdict), false)
  })

  it('holds harmless text back no longer than the encoder reads it, and never waits for that', async () => {
    const text = `The gate of the town was open, and nobody was there. ${'The road to the lake ran along a garden. '.repeat(6)}`
    const clearedWith = async (encoder: FakeEncoder): Promise<number> => {
      const hand = createHandClock()
      const scanner = createStreamScanner(partsWith(encoder, hand.clock))
      for (const [word] of text.matchAll(/\s*\S+/g)) {
        scanner.push(word)
        assert.equal(isPromise(scanner.scan()), false)
        await hand.pass(50)
      }
      return scanner.cleared()
    }
    assert.ok((await clearedWith(createFakeEncoder(() => ({})))) > text.length - 20)
    assert.ok((await clearedWith(createSilentEncoder())) < 60)
    assert.ok((await clearedWith(createFakeEncoder(() => ({ 'self-harm': -0.5 })))) < 70)
  })

  it('waits at most 150 ms for an encoder that never answers', async () => {
    await fc.assert(
      fc.asyncProperty(texts, cuts, async (text, cut) => {
        const hand = createHandClock()
        const scanner = createStreamScanner(partsWith(createSilentEncoder(), hand.clock))
        for (const chunk of cutText(text, cut)) {
          scanner.push(chunk)
          const scanned = scanner.scan()
          if (isPromise(scanned)) hand.advance(150)
          if ((await scanned) !== undefined) return
        }
        const ended = scanner.end()
        let isEnded = false
        void Promise.resolve(ended).then(() => (isEnded = true))
        let waits = 0
        for (; !isEnded; await new Promise(setImmediate)) {
          if (hand.waiting() === 0) continue
          waits += 1
          hand.advance(150)
        }
        const isTextDenied = isDenied((await ended).verdict)
        assert.ok(isTextDenied || waits <= 1)
        assert.equal(scanner.cleared() === Infinity, !isTextDenied)
      }),
      { numRuns: 60 },
    )
  })

  it('waits once for an encoder that never answers, however many slices and encoded parts the text has', async () => {
    const line = 'they spoke about his suicide, and the gate of the town was open to all of them. '
    const note = (at: number): string =>
      Buffer.from(`${at}. I want to kill myself in the ${at}. town`).toString('base64')
    const notes = Array.from({ length: 12 }, (_, at) => `${note(at)} and the gate of the town was open. `).join('')
    for (const text of [line.repeat(500), notes]) {
      const hand = createHandClock()
      const classifier = createCascade({
        first: embedded,
        encoder: createSilentEncoder(),
        clock: hand.clock,
        onResult: () => undefined,
      })
      const stream = startClassifierStream(classifier, 'response')
      for (const chunk of cutText(text, [2_000])) await hand.passUntil(stream.push(chunk))
      const mode = wholeMode({ classifier, direction: 'response', reader: readsAll, stream }, text)
      for (const slice of slicesOf(text)) {
        const { stage, isProvisional } = await hand.passUntil(mode.classify(slice))
        assert.deepEqual([stage, isProvisional], ['linear_encoder_late', true])
      }
      assert.equal(hand.clock.nowMs(), 150)
    }
  })
})
