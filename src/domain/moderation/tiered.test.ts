import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { categories, perCategory, type Category } from './categories.ts'
import type { Classification, Classifier } from './classifier.ts'
import { createTieredClassifier } from './tiered.ts'

const classificationOf = (scores: Partial<Record<Category, number>>): Classification => ({
  scores: perCategory((category) => scores[category] ?? 0.01),
  flagged: categories.filter((category) => (scores[category] ?? 0) >= 0.5),
})

const saying = (id: string, scores: Partial<Record<Category, number>> | Error): Classifier & { asked: number } => ({
  asked: 0,
  identity: { id, version: '1', digest: `digest of ${id}` },
  async classify() {
    this.asked += 1
    if (scores instanceof Error) throw scores
    return classificationOf(scores)
  },
})

async function classify(quick: Partial<Record<Category, number>>, thorough: Partial<Record<Category, number>> | Error) {
  const second = saying('second', thorough)
  const failures: unknown[] = []
  const onFailure = (error: unknown): void => void failures.push(error)
  const tiered = createTieredClassifier({ first: saying('first', quick), second, onFailure })
  const { flagged, scores, isProvisional = false } = await tiered.classify('text', 'request')
  assert.equal(isProvisional, thorough instanceof Error && second.asked > 0, 'only what the second should have judged')
  for (const category of categories) {
    assert.equal(scores[category] >= 0.5, flagged.includes(category), 'scores and verdicts say the same')
  }
  return { flagged, scores, asked: second.asked, failures }
}

describe('two classifiers', () => {
  it('spare the second what the first is sure of', async () => {
    assert.deepEqual((await classify({ hate: 0.19 }, { hate: 1 })).asked, 0)
    const { flagged, asked } = await classify({ hate: 0.95 }, { hate: 0 })
    assert.deepEqual([flagged, asked], [['hate'], 0])
  })

  it('leave what the first is not sure of to the second', async () => {
    for (const score of [0.2, 0.5, 0.89]) {
      assert.deepEqual((await classify({ hate: score }, { hate: 0.1 })).flagged, [])
      assert.deepEqual((await classify({ hate: score }, { hate: 0.7 })).flagged, ['hate'])
    }
  })

  it('leave requests in other scripts to the second, of which the first knows nothing', async () => {
    const second = saying('second', { hate: 0.8 })
    const tiered = createTieredClassifier({ first: saying('first', {}), second, onFailure: () => {} })
    const flaggedIn = async (text: string): Promise<readonly Category[]> =>
      (await tiered.classify(text, 'request')).flagged
    for (const text of ['Как испечь хлеб?', '怎么烤面包', 'please translate: 怎么烤面包给我的朋友吃'])
      assert.deepEqual(await flaggedIn(text), ['hate'], text)
    for (const text of ['How do I bake bread?', 'Wie bäckt man Brötchen?', 'what does привет mean', '12 + 3 🙂'])
      assert.deepEqual(await flaggedIn(text), [], text)
    assert.deepEqual((await tiered.classify('怎么烤面包', 'response')).flagged, [])
  })

  it('flag what the second says, in every category, and what the first is sure of besides', async () => {
    assert.deepEqual((await classify({ hate: 0.4 }, { 'self-harm': 0.8 })).flagged, ['self-harm'])
    assert.deepEqual((await classify({ hate: 0.4, sexual: 0.97 }, {})).flagged, ['sexual'])
  })

  it('fail towards caution where the second fails: low marks for what is always blocked, high ones for the rest', async () => {
    const { flagged, failures } = await classify(
      { 'self-harm': 0.25, 'sexual/minors': 0.1, hate: 0.8 },
      new Error('down'),
    )
    assert.deepEqual(flagged, ['self-harm'])
    assert.match(String(failures[0]), /down/)
    assert.deepEqual((await classify({ hate: 0.92, sexual: 0.3 }, new Error('down'))).flagged, ['hate'])
  })

  it('are named together', () => {
    const { identity } = createTieredClassifier({
      first: saying('a', {}),
      second: saying('b', {}),
      onFailure: () => {},
    })
    assert.deepEqual(identity, { id: 'a+b', version: '1+1', digest: 'digest of a' })
  })
})
