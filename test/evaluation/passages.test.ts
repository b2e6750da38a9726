import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createEmbeddedClassifier } from '../../src/adapters/classifiers/embedded/classifier.ts'
import { createFindPassage } from '../../src/domain/evaluation/passages.ts'
import { categories } from '../../src/domain/scan/classify/categories.ts'
import { createScanText } from '../../src/domain/scan/scan.ts'

const scanText = createScanText({ classifier: createEmbeddedClassifier(), pause: async () => {}, cacheEntries: 0 })
const findPassage = createFindPassage(scanText)
const reader = { categories: new Set(categories), organizationId: 'org_1' }
const insult = 'All immigrants are filthy vermin and must be exterminated'

const passageIn = async (text: string): Promise<string> => {
  const { start, end } = await findPassage({ text, direction: 'request', reader }, 'hate')
  return text.slice(start, end)
}

describe('the passage behind a category', () => {
  it('is the sentence with the highest score', async () => {
    assert.equal(await passageIn(`The sun shines today. ${insult}. The tea is ready.`), `${insult}.`)
  })

  it('is a window of 512 characters if the text has no sentences', async () => {
    const filler = 'the sun shines and the tea is ready and the birds sing '.repeat(20)
    const passage = await passageIn(filler + insult + ' ' + filler)
    assert.equal(passage.length, 512)
    assert.ok(passage.includes('filthy vermin'), passage)
  })

  it('is the whole text if it is short', async () => {
    assert.equal(await passageIn(insult), insult)
  })
})
