import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSilentEncoder } from '../../../../test/support/fake-encoder.ts'
import { createHandClock } from '../../../../test/support/hand-clock.ts'
import { wordClassifier } from '../../../../test/support/word-classifier.ts'
import { createCascade } from './cascade.ts'
import { categories, perCategory, type Category } from './categories.ts'
import type { Classification, Classifier } from './classifier.ts'
import { createTieredClassifier } from './tiered.ts'

const classificationOf = (scores: Partial<Record<Category, number>>): Classification => ({
  scores: perCategory((category) => scores[category] ?? 0.01),
  flagged: categories.filter((category) => (scores[category] ?? 0) >= 0.5),
})

const classifierOf = (
  id: string,
  scores: Partial<Record<Category, number>> | Error,
): Classifier & { calls: number } => ({
  calls: 0,
  identity: { id, version: '1', digest: `digest of ${id}` },
  async classify() {
    this.calls += 1
    if (scores instanceof Error) throw scores
    return classificationOf(scores)
  },
})

async function classify(quick: Partial<Record<Category, number>>, thorough: Partial<Record<Category, number>> | Error) {
  const second = classifierOf('second', thorough)
  const failures: unknown[] = []
  const onFailure = (error: unknown): void => void failures.push(error)
  const tiered = createTieredClassifier({ first: classifierOf('first', quick), second, onFailure })
  const { flagged, scores, isProvisional = false } = await tiered.classify('text', 'request')
  assert.equal(
    isProvisional,
    thorough instanceof Error && second.calls > 0,
    'only results that the second classifier should have given are provisional',
  )
  for (const category of categories) {
    assert.equal(scores[category] >= 0.5, flagged.includes(category), 'scores and flags agree')
  }
  return { flagged, scores, calls: second.calls, failures }
}

describe('a tiered classifier', () => {
  it('does not call the second classifier if the first is certain', async () => {
    assert.deepEqual((await classify({ hate: 0.19 }, { hate: 1 })).calls, 0)
    const { flagged, calls } = await classify({ hate: 0.95 }, { hate: 0 })
    assert.deepEqual([flagged, calls], [['hate'], 0])
  })

  it('calls the second classifier if the first is uncertain', async () => {
    for (const score of [0.2, 0.5, 0.89]) {
      assert.deepEqual((await classify({ hate: score }, { hate: 0.1 })).flagged, [])
      assert.deepEqual((await classify({ hate: score }, { hate: 0.7 })).flagged, ['hate'])
    }
  })

  it('calls the second classifier for requests in scripts that the first does not support', async () => {
    const second = classifierOf('second', { hate: 0.8 })
    const tiered = createTieredClassifier({ first: classifierOf('first', {}), second, onFailure: () => {} })
    const flaggedIn = async (text: string): Promise<readonly Category[]> =>
      (await tiered.classify(text, 'request')).flagged
    for (const text of ['Как испечь хлеб?', '怎么烤面包', 'please translate: 怎么烤面包给我的朋友吃'])
      assert.deepEqual(await flaggedIn(text), ['hate'], text)
    for (const text of ['How do I bake bread?', 'Wie bäckt man Brötchen?', 'what does привет mean', '12 + 3 🙂'])
      assert.deepEqual(await flaggedIn(text), [], text)
    assert.deepEqual((await tiered.classify('怎么烤面包', 'response')).flagged, [])
  })

  it('flags what the second classifier flags, and what the first is certain of', async () => {
    assert.deepEqual((await classify({ hate: 0.4 }, { 'self-harm': 0.8 })).flagged, ['self-harm'])
    assert.deepEqual((await classify({ hate: 0.4, sexual: 0.97 }, {})).flagged, ['sexual'])
  })

  it('uses a low threshold for always blocked categories and a high one for others if the second classifier fails', async () => {
    const { flagged, failures } = await classify(
      { 'self-harm': 0.25, 'sexual/minors': 0.1, hate: 0.8 },
      new Error('down'),
    )
    assert.deepEqual(flagged, ['self-harm'])
    assert.match(String(failures[0]), /down/)
    assert.deepEqual((await classify({ hate: 0.92, sexual: 0.3 }, new Error('down'))).flagged, ['hate'])
  })

  it('keeps the mark of a provisional result of the first classifier', async () => {
    for (const score of [0.1, 0.5, 0.95]) {
      const first: Classifier = {
        ...classifierOf('first', {}),
        classify: () => ({
          ...classificationOf({ hate: score }),
          isProvisional: true,
          stage: 'linear_encoder_late',
        }),
      }
      const tiered = createTieredClassifier({ first, second: classifierOf('second', {}), onFailure: () => {} })
      assert.equal((await tiered.classify('text', 'request')).isProvisional, true)
    }
  })

  it('waits once per streamed text for the encoder of the first classifier, if that never answers', async () => {
    const hand = createHandClock()
    const first = createCascade({
      first: wordClassifier,
      encoder: createSilentEncoder(),
      clock: hand.clock,
      onResult: () => undefined,
    })
    const tiered = createTieredClassifier({ first, second: classifierOf('second', {}), onFailure: () => {} })
    const stream = tiered.startStream?.('response') ?? assert.fail()
    for (let at = 0; at < 20; at++) await hand.passUntil(stream.push('noose and the gate of the town was open '))
    assert.equal((await hand.passUntil(stream.end())).whole.isProvisional, true)
    assert.equal(hand.clock.nowMs(), 150)
  })

  it('has an identity made of both', () => {
    const { identity } = createTieredClassifier({
      first: classifierOf('a', {}),
      second: classifierOf('b', {}),
      onFailure: () => {},
    })
    assert.deepEqual(identity, { id: 'a+b', version: '1+1', digest: 'digest of a' })
  })
})
