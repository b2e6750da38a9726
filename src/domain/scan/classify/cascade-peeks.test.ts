import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { perCategory } from './categories.ts'
import { createCascadePeeks } from './cascade-peeks.ts'
import type { Classification, HoldBackBounds } from './classifier.ts'
import type { EncoderAnswer } from './encoder-calls.ts'

const bounds: HoldBackBounds = {
  categories: perCategory(() => ({ elevatedFrom: -5, holdFrom: -4 })),
  bothStages: { 'self-harm': { elevatedFrom: -4, holdFrom: -1 } },
  keptBackCharacters: 20,
  openingWords: 3,
}

const scored = (logOdds: number): Classification => ({
  scores: perCategory((category) => (category === 'self-harm' ? 1 / (1 + Math.exp(-logOdds)) : 0.001)),
  flagged: [],
})
const held = scored(-3)
const clear = scored(-7)
const text = 'the gate of a town was open and nobody said what they saw. '.repeat(12)

/** Peeks whose encoder finds a score, and the texts that it has read. */
function peeksWith(
  logOdds: number,
  answer: (text: string) => Promise<EncoderAnswer> = async () => perCategory(() => 0),
) {
  const texts: string[] = []
  const { clock, advance } = createHandClock()
  const peeks = createCascadePeeks({
    bounds,
    clock,
    direction: 'response',
    questionOf: () => ({ isUrgent: false, organizationId: '' }),
    judged: (linear, [only]) =>
      typeof only === 'string'
        ? { ...linear, isProvisional: true, stage: only }
        : { ...scored(logOdds), stage: 'encoder' },
    async askAside(asked) {
      texts.push(...asked)
      return Promise.all(asked.map(answer))
    },
  })
  const read: typeof peeks.read = (...arguments_) => {
    advance(50)
    peeks.read(...arguments_)
  }
  return { peeks: { ...peeks, read }, texts, readAtOnce: peeks.read }
}

const answered = (): Promise<unknown> => new Promise(setImmediate)

describe('the peeks of a cascade', () => {
  it('let the encoder read the end of a text that is held back, and have the result of both stages then', async () => {
    const { peeks, texts } = peeksWith(-6)
    peeks.read(text, held, 100)
    assert.deepEqual(peeks.peek(held, held, 100), held)
    await answered()
    const { scores, stage } = peeks.peek(held, held, 108)
    assert.equal(stage, 'encoder')
    assert.equal(scores['self-harm'], scored(-6).scores['self-harm'])
    assert.equal(scores.hate, held.scores.hate)
    assert.equal(texts.length, 1)
    assert.ok(text.slice(0, 100).endsWith(texts[0] ?? ''))
  })

  it('do not ask about text that is not held back, nor about a few words or another script', () => {
    const { peeks, texts } = peeksWith(-6)
    peeks.read(text, clear, 100)
    peeks.read(text, held, 47)
    peeks.read('Привет всем, как дела, что нового у вас сегодня дома. '.repeat(4), held, 100)
    assert.equal(texts.length, 0)
  })

  it('do not ask about a text whose chunks come faster than the encoder reads', () => {
    const { peeks, texts, readAtOnce } = peeksWith(-6)
    peeks.read(text, clear, 20)
    readAtOnce(text, held, 100)
    assert.equal(texts.length, 0)
    peeks.read(text, held, 110)
    assert.equal(texts.length, 1)
  })

  it('ask about one text at a time, and again after some words if text is still held back', async () => {
    const { peeks, texts } = peeksWith(-2)
    peeks.read(text, held, 100)
    peeks.read(text, held, 140)
    assert.equal(texts.length, 1)
    await answered()
    peeks.read(text, held, 120)
    assert.equal(texts.length, 1)
    peeks.read(text, held, 140)
    assert.equal(texts.length, 2)
  })

  it('do not ask again while both stages find nothing', async () => {
    const { peeks, texts } = peeksWith(-6)
    peeks.read(text, held, 100)
    await answered()
    peeks.read(text, held, 300)
    assert.equal(texts.length, 1)
    peeks.read(text, held, 400)
    assert.equal(texts.length, 2)
  })

  it('have the result of the first stage for the first words, and if its score has risen since the encoder read', async () => {
    const { peeks } = peeksWith(-6)
    peeks.read(text, held, 50)
    await answered()
    assert.equal(peeks.peek(held, held, 55), held)
    assert.equal(peeks.peek(held, held, 56).stage, 'encoder')
    const risen = scored(-2)
    assert.equal(peeks.peek(risen, risen, 70), risen)
  })

  it('have the result of the first stage if the encoder has no answer', async () => {
    const { peeks } = peeksWith(-6, async () => 'linear_encoder_busy')
    peeks.read(text, held, 100)
    await answered()
    assert.equal(peeks.peek(held, held, 108), held)
  })
})
