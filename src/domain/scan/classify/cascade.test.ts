import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isPromise } from '../../../base/maybe-promise.ts'
import { createFakeEncoder, createSilentEncoder, type FakeEncoder } from '../../../../test/support/fake-encoder.ts'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { categories, perCategory, type Category } from './categories.ts'
import { createCascade } from './cascade.ts'
import { noClassification, strongest, type Classification, type SynchronousClassifier } from './classifier.ts'
import { createScanText } from '../scan.ts'

const english = 'and that is what you said to them about the town'

/** Scores `hate` by word: `mild` below the bound from which the encoder is asked, `odd` above it, `bad` above the threshold. */
function linearScore(text: string): number {
  if (text.includes('bad')) return 0.8
  if (text.includes('odd')) return 0.2
  return text.includes('mild') ? 0.04 : 0.001
}

const scored = (scores: Partial<Record<Category, number>>): Classification => ({
  scores: perCategory((category) => scores[category] ?? 0.001),
  flagged: categories.filter((category) => (scores[category] ?? 0) >= 0.5),
})

const first: SynchronousClassifier = {
  identity: { id: 'embedded', version: '2', digest: 'l' },
  classify: (text) => scored({ hate: linearScore(text), 'sexual/minors': text.includes('gated') ? 0.9 : 0.001 }),
  startStream: () => assert.fail('no stream is started'),
}

function cascadeOf(encoder: FakeEncoder, clock = createHandClock().clock) {
  const results: string[] = []
  const cascade = createCascade({ first, encoder, clock, onResult: (result) => results.push(result) })
  return { cascade, results }
}

describe('a cascade of two stages', () => {
  it('gives the result of the first stage at once if that is far from every threshold', () => {
    const encoder = createFakeEncoder(() => ({ hate: 9 }))
    const { cascade } = cascadeOf(encoder)
    const classification = cascade.classify(`a mild text, ${english}`, 'request')
    assert.ok(!isPromise(classification))
    assert.deepEqual(classification, scored({ hate: 0.04 }))
    assert.deepEqual(encoder.texts, [])
  })

  it('lowers and raises the scores of an English text that is near a threshold', async () => {
    const { cascade, results } = cascadeOf(createFakeEncoder((text) => ({ hate: text.includes('bad') ? -2 : 2 })))
    const lowered = await cascade.classify(`a bad text, ${english}`, 'request')
    assert.deepEqual([lowered.flagged, lowered.stage], [[], 'encoder'])
    assert.ok(Math.abs(lowered.scores.hate - 1 / (1 + Math.exp(2))) < 1e-12)
    const raised = await cascade.classify(`an odd text, ${english}`, 'response')
    assert.deepEqual([raised.flagged, raised.isProvisional], [['hate'], undefined])
    assert.deepEqual(results, ['judged', 'judged'])
  })

  it('asks the encoder only about categories that somebody reads, and keeps the score of the first stage for others', async () => {
    const encoder = createFakeEncoder(() => ({ hate: -2 }))
    const { cascade } = cascadeOf(encoder)
    const reader = { categories: new Set(['self-harm'] as const), organizationId: 'org_1' }
    assert.deepEqual(cascade.classify(`a bad text, ${english}`, 'request', reader), scored({ hate: 0.8 }))
    assert.deepEqual(encoder.texts, [])
    const all = await cascade.classify(`a bad text, ${english}`, 'request')
    assert.deepEqual([all.flagged, encoder.texts.length], [[], 1])
  })

  it('keeps the scores of categories that nobody reads, also if the encoder has read the text', async () => {
    const harmful = { ...first, classify: () => scored({ 'self-harm': 0.4, hate: 0.8 }) }
    const encoder = createFakeEncoder(() => ({ hate: -2, 'self-harm': 2 }))
    const cascade = createCascade({ first: harmful, encoder, clock: createHandClock().clock, onResult: () => {} })
    const reader = { categories: new Set(['self-harm'] as const), organizationId: 'org_1' }
    const { scores, flagged, stage } = await cascade.classify(english, 'request', reader)
    assert.deepEqual([scores.hate, flagged, stage], [0.8, ['self-harm', 'hate'], 'encoder'])
    assert.deepEqual(encoder.questions, [{ isUrgent: true, organizationId: 'org_1' }])
  })

  it('does not ask the encoder about a script that it cannot read', () => {
    const encoder = createFakeEncoder(() => ({ hate: 9 }))
    const { cascade } = cascadeOf(encoder)
    assert.deepEqual(cascade.classify('bad 안녕하세요 여러분 반갑습니다', 'request'), scored({ hate: 0.8 }))
    assert.deepEqual(encoder.texts, [])
  })

  it('keeps the score of the first stage where the encoder has no weight', async () => {
    const { cascade } = cascadeOf(createFakeEncoder(() => ({ 'sexual/minors': -9 })))
    const { scores, flagged } = await cascade.classify(`a gated text, ${english}`, 'request')
    assert.deepEqual([scores['sexual/minors'], flagged], [0.9, ['sexual/minors']])
  })

  it('keeps the verdict of the first stage for the parts that are not English', async () => {
    const { cascade } = cascadeOf(createFakeEncoder(() => ({ hate: -9 })))
    const { scores, flagged } = await cascade.classify(`${english}. Ich bin bad und nicht gut.`, 'request')
    assert.deepEqual([scores.hate, flagged], [0.8, ['hate']])
    const own = await cascade.classify(`${english}. Ich bin gut. They are bad and that is what you said.`, 'request')
    assert.deepEqual(own.flagged, [])
  })

  it('flags what the first stage is certain of in a category that is always blocked', async () => {
    const certain = { ...first, classify: () => scored({ 'self-harm': 0.92, hate: 0.92 }) }
    const encoder = createFakeEncoder(() => ({ 'self-harm': -9, hate: -9 }))
    const cascade = createCascade({
      first: certain,
      encoder,
      clock: createHandClock().clock,
      onResult: () => undefined,
    })
    const { scores, flagged } = await cascade.classify(english, 'request')
    assert.deepEqual([scores['self-harm'], flagged], [0.5, ['self-harm']])
  })

  it('asks about at most four windows of a text, those with the highest scores', async () => {
    const encoder = createFakeEncoder(() => ({}))
    const { cascade } = cascadeOf(encoder)
    await cascade.classify(
      `${`an odd text, ${english}. `.repeat(120)} bad ${`an odd text, ${english}. `.repeat(120)}`,
      'request',
    )
    assert.equal(encoder.texts.length, 4)
    assert.ok(encoder.texts.some((text) => text.includes(' bad ')))
  })

  it('names the first stage for a text that is flagged only in a category without the encoder', async () => {
    const { cascade } = cascadeOf(createFakeEncoder((text) => ({ hate: text.includes('bad') ? 3 : -9 })))
    const ofFirst = await cascade.classify(`an odd and gated text, ${english}`, 'request')
    assert.deepEqual([ofFirst.flagged, ofFirst.stage, ofFirst.isProvisional], [['sexual/minors'], undefined, undefined])
    const ofBoth = await cascade.classify(`a bad and gated text, ${english}`, 'request')
    assert.deepEqual([ofBoth.flagged.toSorted(), ofBoth.stage], [['hate', 'sexual/minors'], 'encoder'])
  })

  it('asks from the score that each category has for it, and never for a category that it does not judge', async () => {
    const { hate, 'sexual/minors': minors } = createSilentEncoder().stack.categories
    const encoder = createFakeEncoder(() => ({}), {
      hate: { ...hate, askFrom: 1 },
      'sexual/minors': { ...minors, askFrom: -9 },
    })
    const { cascade } = cascadeOf(encoder)
    for (const text of ['mild', 'odd', 'gated', 'bad']) await cascade.classify(text, 'request')
    assert.deepEqual(encoder.texts, ['bad'])
  })

  it('weighs both stages, each with its own mean and deviation, against the threshold of the direction', async () => {
    const encoder = createFakeEncoder(() => ({ hate: 3 }), {
      hate: {
        askFrom: -3,
        encoder: { weight: 0.7, mean: 1, deviation: 2 },
        linear: { weight: 0.3, mean: -4, deviation: 3 },
        slope: 2,
        thresholds: { request: 0.5, response: 1.5 },
      },
    })
    const { cascade } = cascadeOf(encoder)
    const raw = 0.7 * ((3 - 1) / 2) + 0.3 * ((Math.log(0.2 / 0.8) + 4) / 3)
    const expected = (threshold: number): number => 1 / (1 + Math.exp(-2 * (raw - threshold)))
    const near = (actual: number, score: number): void => assert.ok(Math.abs(actual - score) < 1e-12)
    const request = await cascade.classify(`an odd text, ${english}`, 'request')
    near(request.scores.hate, expected(0.5))
    assert.deepEqual(request.flagged, ['hate'])
    const response = await cascade.classify(`an odd text, ${english}`, 'response')
    near(response.scores.hate, expected(1.5))
    assert.deepEqual(response.flagged, [])
  })

  it('raises but does not lower the scores of a text in another language', async () => {
    const text = 'das ist ein bad Wort und nicht mehr'
    const lowering = cascadeOf(createFakeEncoder(() => ({ hate: -5 })))
    assert.equal((await lowering.cascade.classify(text, 'request')).scores.hate, 0.8)
    const raising = cascadeOf(createFakeEncoder(() => ({ 'self-harm': 3 })))
    assert.deepEqual((await raising.cascade.classify(text, 'request')).flagged, ['self-harm', 'hate'])
  })

  it('reads only the windows of a long text that are near a threshold', async () => {
    const encoder = createFakeEncoder(() => ({ hate: 4 }))
    const { cascade } = cascadeOf(encoder)
    const calm = `${english} `.repeat(60)
    const { flagged } = await cascade.classify(`${calm}an odd word ${calm}`, 'request')
    assert.ok(encoder.texts.length <= 2 && encoder.texts.every((text) => text.includes('odd') && text.length <= 1_250))
    assert.deepEqual(flagged, ['hate'])
  })

  it('uses the result of the first stage if the encoder fails, and says so', async () => {
    const { cascade, results } = cascadeOf(createFakeEncoder(() => Promise.reject(new Error('no worker'))))
    const text = `a bad text, ${english}`
    assert.deepEqual(await cascade.classify(text, 'request'), {
      ...scored({ hate: 0.8 }),
      isProvisional: true,
      stage: 'linear_encoder_failed',
    })
    assert.deepEqual(results, ['failed'])
  })

  it('is the first stage alone if the encoder cannot work', () => {
    const encoder = createFakeEncoder(() => assert.fail('the encoder is not asked'))
    const { clock } = createHandClock()
    const cascade = createCascade({ first, encoder, clock, onResult: () => undefined, isOff: () => true })
    assert.deepEqual(cascade.classify(`a bad text, ${english}`, 'request'), scored({ hate: 0.8 }))
  })

  it('does not take an answer that is not a number', async () => {
    const { cascade } = cascadeOf(createFakeEncoder(() => ({ hate: Number.NaN })))
    const { stage } = await cascade.classify(`a bad text, ${english}`, 'request')
    assert.equal(stage, 'linear_encoder_failed')
  })

  it('uses the result of the first stage if the encoder is late', async () => {
    const hand = createHandClock()
    const { cascade, results } = cascadeOf(createSilentEncoder(), hand.clock)
    const pending = cascade.classify(`a bad text, ${english}`, 'request')
    hand.advance(1_000)
    const { scores, isProvisional, stage } = await pending
    assert.deepEqual([scores.hate, isProvisional, stage], [0.8, true, 'linear_encoder_late'])
    assert.deepEqual([results, hand.waiting()], [['late'], 0])
  })

  it('asks once about a text that comes again, and again after a failure', async () => {
    let isDown = true
    const encoder = createFakeEncoder(async () => {
      if (isDown) throw new Error('no worker')
      return { hate: -3 }
    })
    const { cascade } = cascadeOf(encoder)
    const scan = createScanText({ classifier: cascade, pause: async () => {}, cacheEntries: 10 })
    const stageOf = async () =>
      (await scan({ text: `a bad text, ${english}`, direction: 'request' })).classification.stage
    assert.equal(await stageOf(), 'linear_encoder_failed')
    isDown = false
    assert.equal(await stageOf(), 'encoder')
    assert.equal(await stageOf(), 'encoder')
    assert.equal(encoder.texts.length, 2)
  })

  it('reports the stage of the text that is flagged', async () => {
    const encoder = createFakeEncoder((text) =>
      text.includes('lost') ? Promise.reject(new Error('no worker')) : { hate: 3 },
    )
    const { cascade } = cascadeOf(encoder)
    const parts = [
      await cascade.classify(`a bad text, ${english}`, 'request'),
      await cascade.classify(`an odd and lost text, ${english}`, 'request'),
    ]
    const { stage, isProvisional } = parts.reduce(strongest, noClassification)
    assert.deepEqual([stage, isProvisional], ['encoder', true])
  })

  it('has the identity of both stages', () => {
    const { cascade } = cascadeOf(createSilentEncoder())
    assert.deepEqual(cascade.identity, { id: 'embedded+encoder', version: '2+1', digest: 'l+e' })
  })

  it('has the identity of the first stage alone once the encoder cannot work', () => {
    let isOff = false
    const { clock } = createHandClock()
    const parts = { first, encoder: createSilentEncoder(), clock, onResult: () => undefined, isOff: () => isOff }
    const cascade = createCascade(parts)
    assert.equal(cascade.identity.id, 'embedded+encoder')
    isOff = true
    assert.deepEqual(cascade.identity, first.identity)
  })
})
