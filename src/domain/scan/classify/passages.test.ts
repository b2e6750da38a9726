import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFakeEncoder, type FakeLogits } from '../../../../test/support/fake-encoder.ts'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { categories, perCategory, type Category } from './categories.ts'
import { createCascade } from './cascade.ts'
import type { Classification, SynchronousClassifier, SynchronousStream } from './classifier.ts'
import { withPassages } from './passages.ts'

const scored = (scores: Partial<Record<Category, number>>): Classification => ({
  scores: perCategory((category) => scores[category] ?? 0.001),
  flagged: categories.filter((category) => (scores[category] ?? 0) >= 0.5),
})

/** A word counts in proportion to its share of the text, as in the linear classifier. */
function shareOf(text: string, word: string): number {
  const words = text.split(/\s+/)
  return words.filter((one) => one.startsWith(word)).length / words.length
}

function read(text: string): Classification {
  const gated = Math.min(0.99, shareOf(text, 'gated') * 5)
  return scored({ 'self-harm': Math.min(0.8, shareOf(text, 'sad') * 3), 'sexual/minors': gated, hate: 0.001 })
}

const plain: SynchronousClassifier = {
  identity: { id: 'embedded', version: '1', digest: 'l' },
  classify: read,
  startStream: (): SynchronousStream => {
    let text = ''
    return {
      push: (more) => void (text += more),
      peek: () => read(text),
      settledTo: () => text.length,
      peekAtEnd: () => {},
      reached: () => [],
      decided: () => undefined,
      end: () => ({ whole: read(text), decided: undefined }),
      [Symbol.dispose]: () => {},
    }
  },
}

const around = 'and that is what you said to them about the town and the people of the river. '.repeat(2)
const buried = (sentence: string): string => `${around}${sentence}. ${around}`

const first = withPassages(plain)

function cascadeOf(judge: (text: string) => FakeLogits) {
  const encoder = createFakeEncoder(judge)
  return { encoder, cascade: createCascade({ first, encoder, clock: createHandClock().clock, onResult: () => {} }) }
}

describe('a statement inside a longer text', () => {
  const sentence = 'they are so sad that it is the end'

  it('is shown to the encoder alone, and counts if the encoder confirms it', async () => {
    const { encoder, cascade } = cascadeOf((text) => ({ 'self-harm': text.includes('sad') ? 2 : -9 }))
    const { flagged, stage } = await cascade.classify(buried(sentence), 'request')
    assert.deepEqual([flagged, stage], [['self-harm'], 'encoder'])
    assert.ok(encoder.texts.includes(`${sentence}.`))
    assert.ok(encoder.texts.every((text) => text.length < buried(sentence).length))
    assert.deepEqual(encoder.questions[0], { isUrgent: true, organizationId: '' })
  })

  it('passes if the encoder does not confirm it', async () => {
    const { cascade } = cascadeOf(() => ({ 'self-harm': -3 }))
    assert.deepEqual((await cascade.classify(buried(sentence), 'request')).flagged, [])
  })

  it('is read by the encoder for a caller that reads no other category', async () => {
    const { cascade } = cascadeOf(() => ({ 'self-harm': 2 }))
    const reader = { categories: new Set(['self-harm', 'sexual/minors'] as const), organizationId: 'org_1' }
    assert.deepEqual((await cascade.classify(buried(sentence), 'request', reader)).flagged, ['self-harm'])
  })

  it('of minors counts if the encoder finds it sexual', async () => {
    const about = 'a gated text is what they said'
    const sexual = cascadeOf(() => ({ sexual: 2 })).cascade
    assert.deepEqual((await sexual.classify(buried(about), 'request')).flagged, ['sexual/minors'])
    const question = cascadeOf(() => ({ sexual: -5 })).cascade
    assert.deepEqual((await question.classify(buried(about), 'request')).flagged, [])
  })

  it('leaves the result of the first stage, for this once, if the encoder does not answer', async () => {
    const { cascade } = cascadeOf(() => {
      throw new Error('busy')
    })
    const { flagged, isProvisional } = await cascade.classify(buried(sentence), 'request')
    assert.deepEqual([flagged, isProvisional], [[], true])
  })

  it('gives a streamed text the result of the complete text', async () => {
    const { cascade } = cascadeOf((text) => ({ 'self-harm': text.includes('sad') ? 2 : -9 }))
    const stream = cascade.startStream?.('request')
    for (const part of buried(sentence).match(/.{1,7}/gs) ?? []) await stream?.push(part)
    const ended = await stream?.end()
    assert.deepEqual(ended?.whole, await cascade.classify(buried(sentence), 'request'))
  })

  it('costs nothing in a text whose score is far below the threshold', () => {
    const texts: string[] = []
    const counted = withPassages<SynchronousClassifier>({
      ...plain,
      classify: (text) => (texts.push(text), read(text)),
    })
    counted.classify(around, 'request')
    assert.deepEqual(texts, [around])
  })
})

describe('the first stage alone', () => {
  const certain = withPassages<SynchronousClassifier>({
    ...plain,
    classify: (text) => scored({ 'self-harm': text.includes('sad') ? (text.length < 80 ? 0.95 : 0.1) : 0 }),
  })

  it('is certain of a sentence in which somebody speaks of themselves', () => {
    assert.deepEqual(certain.classify(buried('I am so sad now'), 'request').flagged, ['self-harm'])
  })

  it('is not certain of a name or a rule', () => {
    assert.deepEqual(certain.classify(buried('a sad text is refused'), 'request').flagged, [])
  })
})

describe('another reading of a text', () => {
  const disguised = 'that is what they said to you about it'
  const ofReading: SynchronousClassifier = {
    ...plain,
    classify: (text) => scored(text === 'a sad reading' ? { 'self-harm': 0.6, hate: 0.9 } : {}),
  }
  const reader = withPassages(ofReading, { findReadings: (text) => (text === disguised ? ['a sad reading'] : []) })

  it('counts like a text of its own, for the categories that are always blocked', () => {
    const { flagged, scores } = reader.classify(disguised, 'request')
    assert.deepEqual([flagged, scores.hate], [['self-harm'], 0.001])
  })

  it('is shown to the encoder instead of the text', async () => {
    const encoder = createFakeEncoder((text) => ({ 'self-harm': text === 'a sad reading' ? -5 : -9 }))
    const cascade = createCascade({ first: reader, encoder, clock: createHandClock().clock, onResult: () => {} })
    assert.deepEqual((await cascade.classify(disguised, 'request')).flagged, [])
    assert.ok(encoder.texts.includes('a sad reading'))
  })

  it('is not looked for in a text that is flagged already', () => {
    let asked = 0
    const flaggedAlready = withPassages<SynchronousClassifier>(
      { ...plain, classify: () => scored({ 'self-harm': 0.8, 'sexual/minors': 0.9 }) },
      { findReadings: () => [`${asked++}`] },
    )
    flaggedAlready.classify('text', 'request')
    assert.equal(asked, 0)
  })
})

describe('a statement in another language', () => {
  const found = { 'self-harm': 0.7, 'sexual/minors': 0 }
  const reader = withPassages<SynchronousClassifier>(plain, {
    scoreLanguages: (text) => (text.includes('triste') ? found : undefined),
  })

  it('counts for the whole text, in the categories that are always blocked', () => {
    const { flagged, scores } = reader.classify('Estoy triste.', 'request')
    assert.deepEqual([flagged, scores['self-harm']], [['self-harm'], 0.7])
  })

  it('is found in a text that streams, at its end', () => {
    using stream = reader.startStream('request')
    stream.push('Estoy tri')
    stream.push('ste.')
    assert.deepEqual(stream.end().whole.flagged, ['self-harm'])
  })
})
