import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { re2Patterns } from '../../adapters/patterns/re2.ts'
import { perCategory } from './classify/categories.ts'
import type { Classification, Classifier } from './classify/classifier.ts'
import { createScanText } from './scan.ts'
import { overlapCharacters, sliceCharacters } from './normalise/slices.ts'
import { compileTerms } from './detect/terms.ts'

/** Flags hate if the text contains `bad`, and keeps the texts it was given. */
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

describe('the scan of a text', () => {
  it('gives scores, terms and personal data at once', async () => {
    const scanText = createScanText({ classifier: createFake(), pause, cacheEntries: 10 })
    const terms = compileTerms(['project x', 'unheard'], re2Patterns)
    const { classification, termHits, personalData } = await scanText({
      text: 'bad Project  X, a@example.org',
      direction: 'request',
      terms,
    })
    assert.equal(classification.scores.hate, 0.9)
    assert.deepEqual(termHits, [{ term: 'project x', start: 4, end: 14 }])
    assert.deepEqual(personalData, [{ kind: 'email', start: 16, end: 29 }])
  })

  it('is cached by text, terms and direction', async () => {
    const classifier = createFake()
    const scanText = createScanText({ classifier, pause, cacheEntries: 10 })
    const [red, blue] = [compileTerms(['red'], re2Patterns), compileTerms(['blue'], re2Patterns)]
    const first = await scanText({ text: 'red', direction: 'request', terms: red })
    assert.equal(
      await scanText({ text: 'red', direction: 'request', terms: compileTerms(['red'], re2Patterns) }),
      first,
    )
    assert.equal(classifier.seen.length, 1)
    assert.deepEqual((await scanText({ text: 'red', direction: 'request', terms: blue })).termHits, [])
    await scanText({ text: 'red', direction: 'response', terms: red })
    assert.equal(classifier.seen.length, 3)
  })

  it('is cached up to a maximum, and the oldest is evicted first', async () => {
    const classifier = createFake()
    const scanText = createScanText({ classifier, pause, cacheEntries: 2 })
    for (const text of ['one', 'two', 'one', 'three', 'one', 'two']) await scanText({ text, direction: 'request' })
    assert.deepEqual(classifier.seen, ['one', 'two', 'three', 'two'])
  })

  it('does not split a word between two slices of a long text', async () => {
    const scanText = createScanText({ classifier: createFake(), pause: async () => {}, cacheEntries: 0 })
    const terms = compileTerms(['ass', 'class'], re2Patterns)
    for (const place of [sliceCharacters - overlapCharacters, sliceCharacters]) {
      for (let before = place - 16; before < place; before += 1) {
        const text = `${' x'.repeat(place).slice(0, before)} cl\u00adassics ass\u00adign ${'y '.repeat(sliceCharacters)}`
        const { termHits } = await scanText({ text, direction: 'response', terms })
        assert.deepEqual(termHits, [], String(before))
      }
    }
  })

  it('splits a long text into overlapping slices, with a pause between them', async () => {
    const classifier = createFake()
    let pauses = 0
    const countPause = async (): Promise<void> => {
      pauses += 1
    }
    const scanText = createScanText({ classifier, pause: countPause, cacheEntries: 0 })
    const cut = sliceCharacters - 4
    const text = `${'x '.repeat(cut / 2)}project x bob@example.org ${'y '.repeat(sliceCharacters)}bad`
    const terms = compileTerms(['project x'], re2Patterns)
    const { classification, termHits, personalData } = await scanText({ text, direction: 'request', terms })
    assert.equal(pauses, classifier.seen.length - 1)
    assert.ok(classifier.seen.every((slice) => slice.length <= sliceCharacters))
    assert.ok(classifier.seen[1]?.startsWith(text.slice(cut - overlapCharacters, cut)))
    assert.deepEqual(classification.flagged, ['hate'])
    assert.deepEqual(termHits, [{ term: 'project x', start: cut, end: cut + 9 }])
    assert.deepEqual(personalData, [{ kind: 'email', start: cut + 10, end: cut + 25 }])
  })

  it('decodes encoded text, for scores and for terms', async () => {
    const scanText = createScanText({ classifier: createFake(), pause, cacheEntries: 0 })
    const encoded = Buffer.from('this is the bad part about project x').toString('base64')
    const terms = compileTerms(['project x'], re2Patterns)
    const { classification, termHits } = await scanText({ text: `run ${encoded}`, direction: 'request', terms })
    assert.deepEqual(classification.flagged, ['hate'])
    assert.deepEqual(termHits, [{ term: 'project x', start: 4, end: 4 + encoded.length }])
  })

  it('is not cached if the classification of any slice is provisional', async () => {
    const fake = createFake()
    const classifier: Classifier = {
      ...fake,
      async classify(text, direction) {
        const isProvisional = fake.seen.length === 0
        return { ...(await fake.classify(text, direction)), isProvisional }
      },
    }
    const scanText = createScanText({ classifier, pause, cacheEntries: 10 })
    for (const _ of [1, 2, 3]) await scanText({ text: 'x '.repeat(sliceCharacters / 2 + 1), direction: 'request' })
    assert.equal(fake.seen.length, 4)
  })

  it('fails if the classifier fails, and is not cached', async () => {
    let isDown = true
    const fake = createFake()
    const classifier: Classifier = {
      ...fake,
      classify: (text, direction) => (isDown ? Promise.reject(new Error('down')) : fake.classify(text, direction)),
    }
    const scanText = createScanText({ classifier, pause, cacheEntries: 10 })
    await assert.rejects(async () => scanText({ text: 'bad', direction: 'request' }), /down/)
    isDown = false
    assert.deepEqual((await scanText({ text: 'bad', direction: 'request' })).classification.flagged, ['hate'])
  })
})
