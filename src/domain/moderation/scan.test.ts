import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { re2Patterns } from '../../adapters/patterns/re2.ts'
import { perCategory } from './categories.ts'
import type { Classification, Classifier } from './classifier.ts'
import { createScanText } from './scan.ts'
import { overlapCharacters, sliceCharacters } from './slices.ts'
import { compileTerms } from './terms.ts'

/** Flags hate where it reads the word `bad`, and writes down what it was given. */
function createFake(): Classifier & { readonly seen: string[] } {
  const seen: string[] = []
  return {
    seen,
    identity: { id: 'fake', version: '1', digest: '' },
    classify(text): Classification {
      seen.push(text)
      const isBad = text.includes('bad')
      return {
        scores: perCategory((name) => (isBad && name === 'hate' ? 0.9 : 0.1)),
        flagged: isBad ? ['hate'] : [],
      }
    },
  }
}

const pause = (): Promise<void> => Promise.resolve()

describe('a screening', () => {
  it('gives scores, terms and personal data of a text at once', async () => {
    const screen = createScanText({ classifier: createFake(), pause, cacheEntries: 10 })
    const terms = compileTerms(['project x', 'unheard'], re2Patterns)
    const { classification, termHits, personalData } = await screen({
      text: 'bad Project  X, a@example.org',
      direction: 'request',
      terms,
    })
    assert.equal(classification.scores.hate, 0.9)
    assert.deepEqual(termHits, [{ term: 'project x', start: 4, end: 14 }])
    assert.deepEqual(personalData, [{ kind: 'email', start: 16, end: 29 }])
  })

  it('of the same block, terms and direction is remembered', async () => {
    const classifier = createFake()
    const screen = createScanText({ classifier, pause, cacheEntries: 10 })
    const [red, blue] = [compileTerms(['red'], re2Patterns), compileTerms(['blue'], re2Patterns)]
    const first = await screen({ text: 'red', direction: 'request', terms: red })
    assert.equal(await screen({ text: 'red', direction: 'request', terms: compileTerms(['red'], re2Patterns) }), first)
    assert.equal(classifier.seen.length, 1)
    assert.deepEqual((await screen({ text: 'red', direction: 'request', terms: blue })).termHits, [])
    await screen({ text: 'red', direction: 'response', terms: red })
    assert.equal(classifier.seen.length, 3)
  })

  it('remembers no more than it may, and forgets the oldest first', async () => {
    const classifier = createFake()
    const screen = createScanText({ classifier, pause, cacheEntries: 2 })
    for (const text of ['one', 'two', 'one', 'three', 'one', 'two']) await screen({ text, direction: 'request' })
    assert.deepEqual(classifier.seen, ['one', 'two', 'three', 'two'])
  })

  it('of a long text cuts no word in two: a part of one is not what it says', async () => {
    const screen = createScanText({ classifier: createFake(), pause: async () => {}, cacheEntries: 0 })
    const terms = compileTerms(['ass', 'class'], re2Patterns)
    for (const place of [sliceCharacters - overlapCharacters, sliceCharacters]) {
      for (let before = place - 16; before < place; before += 1) {
        const text = `${' x'.repeat(place).slice(0, before)} cl\u00adassics ass\u00adign ${'y '.repeat(sliceCharacters)}`
        const { termHits } = await screen({ text, direction: 'response', terms })
        assert.deepEqual(termHits, [], String(before))
      }
    }
  })

  it('of a long text is made in slices that overlap, with a pause between them', async () => {
    const classifier = createFake()
    let pauses = 0
    const countPause = async (): Promise<void> => {
      pauses += 1
    }
    const screen = createScanText({ classifier, pause: countPause, cacheEntries: 0 })
    const cut = sliceCharacters - 4
    const text = `${'x '.repeat(cut / 2)}project x bob@example.org ${'y '.repeat(sliceCharacters)}bad`
    const terms = compileTerms(['project x'], re2Patterns)
    const { classification, termHits, personalData } = await screen({ text, direction: 'request', terms })
    assert.equal(pauses, classifier.seen.length - 1)
    assert.ok(classifier.seen.every((slice) => slice.length <= sliceCharacters))
    assert.ok(classifier.seen[1]?.startsWith(text.slice(cut - overlapCharacters, cut)))
    assert.deepEqual(classification.flagged, ['hate'])
    assert.deepEqual(termHits, [{ term: 'project x', start: cut, end: cut + 9 }])
    assert.deepEqual(personalData, [{ kind: 'email', start: cut + 10, end: cut + 25 }])
  })

  it('looks into hidden text, for scores and for terms', async () => {
    const screen = createScanText({ classifier: createFake(), pause, cacheEntries: 0 })
    const hidden = Buffer.from('this is the bad part about project x').toString('base64')
    const terms = compileTerms(['project x'], re2Patterns)
    const { classification, termHits } = await screen({ text: `run ${hidden}`, direction: 'request', terms })
    assert.deepEqual(classification.flagged, ['hate'])
    assert.deepEqual(termHits, [{ term: 'project x', start: 4, end: 4 + hidden.length }])
  })

  it('is not remembered where somebody better should have judged, whichever slice it was', async () => {
    const fake = createFake()
    const classifier: Classifier = {
      ...fake,
      async classify(text, direction) {
        const isProvisional = fake.seen.length === 0
        return { ...(await fake.classify(text, direction)), isProvisional }
      },
    }
    const screen = createScanText({ classifier, pause, cacheEntries: 10 })
    for (const _ of [1, 2, 3]) await screen({ text: 'x '.repeat(sliceCharacters / 2 + 1), direction: 'request' })
    assert.equal(fake.seen.length, 4)
  })

  it('fails where the classifier fails, and remembers nothing of it', async () => {
    let isDown = true
    const fake = createFake()
    const classifier: Classifier = {
      ...fake,
      classify: (text, direction) => (isDown ? Promise.reject(new Error('down')) : fake.classify(text, direction)),
    }
    const screen = createScanText({ classifier, pause, cacheEntries: 10 })
    await assert.rejects(async () => screen({ text: 'bad', direction: 'request' }), /down/)
    isDown = false
    assert.deepEqual((await screen({ text: 'bad', direction: 'request' })).classification.flagged, ['hate'])
  })
})
