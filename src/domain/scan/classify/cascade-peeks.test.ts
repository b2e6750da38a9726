import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { perCategory } from './categories.ts'
import { createCascadeLooks } from './cascade-peeks.ts'
import type { Classification, HoldBackBounds } from './classifier.ts'
import type { EncoderAnswer } from './encoder-calls.ts'

const bounds: HoldBackBounds = {
  categories: perCategory(() => ({ calm: -5, frozen: -4 })),
  bothStages: { 'self-harm': { calm: -4, frozen: -1 } },
  keptBackCharacters: 20,
  openingWords: 3,
}

const scored = (logOdds: number): Classification => ({
  scores: perCategory((category) => (category === 'self-harm' ? 1 / (1 + Math.exp(-logOdds)) : 0.001)),
  flagged: [],
})
const held = scored(-3)
const calm = scored(-7)
const text = 'the gate of a town was open and nobody said what they saw. '.repeat(12)

/** Looks whose encoder finds a score, and the texts that it has read. */
function looksWith(
  logOdds: number,
  answer: (text: string) => Promise<EncoderAnswer> = async () => perCategory(() => 0),
) {
  const texts: string[] = []
  const { clock, advance } = createHandClock()
  const looks = createCascadeLooks({
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
  const read: typeof looks.read = (...arguments_) => {
    advance(50)
    looks.read(...arguments_)
  }
  return { looks: { ...looks, read }, texts, readAtOnce: looks.read }
}

const answered = (): Promise<unknown> => new Promise(setImmediate)

describe('the looks of a cascade', () => {
  it('let the encoder read the end of a text that is held back, and have the result of both stages then', async () => {
    const { looks, texts } = looksWith(-6)
    looks.read(text, held, 100)
    assert.deepEqual(looks.look(held, held, 100), held)
    await answered()
    const { scores, stage } = looks.look(held, held, 108)
    assert.equal(stage, 'encoder')
    assert.equal(scores['self-harm'], scored(-6).scores['self-harm'])
    assert.equal(scores.hate, held.scores.hate)
    assert.equal(texts.length, 1)
    assert.ok(text.slice(0, 100).endsWith(texts[0] ?? ''))
  })

  it('do not ask about text that is not held back, nor about a few words or another script', () => {
    const { looks, texts } = looksWith(-6)
    looks.read(text, calm, 100)
    looks.read(text, held, 47)
    looks.read('Привет всем, как дела, что нового у вас сегодня дома. '.repeat(4), held, 100)
    assert.equal(texts.length, 0)
  })

  it('do not ask about a text whose chunks come faster than the encoder reads', () => {
    const { looks, texts, readAtOnce } = looksWith(-6)
    looks.read(text, calm, 20)
    readAtOnce(text, held, 100)
    assert.equal(texts.length, 0)
    looks.read(text, held, 110)
    assert.equal(texts.length, 1)
  })

  it('ask about one text at a time, and again after some words if text is still held back', async () => {
    const { looks, texts } = looksWith(-2)
    looks.read(text, held, 100)
    looks.read(text, held, 140)
    assert.equal(texts.length, 1)
    await answered()
    looks.read(text, held, 120)
    assert.equal(texts.length, 1)
    looks.read(text, held, 140)
    assert.equal(texts.length, 2)
  })

  it('do not ask again while both stages find nothing', async () => {
    const { looks, texts } = looksWith(-6)
    looks.read(text, held, 100)
    await answered()
    looks.read(text, held, 300)
    assert.equal(texts.length, 1)
    looks.read(text, held, 400)
    assert.equal(texts.length, 2)
  })

  it('have the result of the first stage for the first words, and if its score has risen since the encoder read', async () => {
    const { looks } = looksWith(-6)
    looks.read(text, held, 50)
    await answered()
    assert.equal(looks.look(held, held, 55), held)
    assert.equal(looks.look(held, held, 56).stage, 'encoder')
    const risen = scored(-2)
    assert.equal(looks.look(risen, risen, 70), risen)
  })

  it('have the result of the first stage if the encoder has no answer', async () => {
    const { looks } = looksWith(-6, async () => 'linear_encoder_busy')
    looks.read(text, held, 100)
    await answered()
    assert.equal(looks.look(held, held, 108), held)
  })
})
