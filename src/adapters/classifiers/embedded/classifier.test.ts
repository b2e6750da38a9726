import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { categories } from '../../../domain/moderation/categories.ts'
import { createScanText } from '../../../domain/moderation/scan.ts'
import { createEmbeddedClassifier, loadModel } from './classifier.ts'

const Case = Type.Object(
  {
    title: Type.String({ minLength: 1 }),
    text: Type.String({ minLength: 1 }),
    flags: Type.Optional(Type.Array(Type.Enum([...categories]), { minItems: 1 })),
  },
  { additionalProperties: false },
)

const readCases = (name: string): readonly { title: string; text: string; flags?: readonly string[] }[] =>
  Value.Parse(
    Type.Array(Case),
    JSON.parse(readFileSync(new URL(`../../../domain/moderation/cases/${name}.json`, import.meta.url), 'utf8')),
  )

const model = loadModel()
const classifier = createEmbeddedClassifier(model)
const scan = createScanText({ classifier, cacheEntries: 0, pause: () => Promise.resolve() })

for (const [name, subject] of [
  ['blocked', 'the embedded classifier flags'],
  ['evasion', 'the embedded classifier sees through'],
] as const) {
  describe(subject, () => {
    for (const { title, text, flags = [] } of readCases(name)) {
      it(title, async () => {
        const { classification } = await scan({ text, direction: 'request' })
        assert.notDeepEqual(flags, [], 'a case that flags nothing shows nothing')
        for (const category of flags)
          assert.ok(
            classification.flagged.some((flagged) => flagged === category),
            JSON.stringify(classification),
          )
      })
    }
  })
}

describe('the embedded classifier allows', () => {
  for (const { title, text } of readCases('over-blocking')) {
    it(title, async () => {
      for (const direction of ['request', 'response'] as const) {
        const { classification } = await scan({ text, direction })
        assert.deepEqual(classification.flagged, [], JSON.stringify(classification))
      }
    })
  }
})

describe('the embedded classifier', () => {
  it('gives a score between 0 and 1 in every category, also for an empty text', () => {
    for (const text of ['', ' ', '!!!', '🙂', '日本語', 'a'.repeat(100_000), '\ud800', 'x '.repeat(20_000)]) {
      const { scores, flagged } = classifier.classify(text, 'request')
      for (const category of categories)
        assert.ok(scores[category] >= 0 && scores[category] <= 1, `${category} of ${text.slice(0, 5)}`)
      assert.deepEqual(flagged, [])
    }
  })

  it('gives the same text the same scores, whatever it classified before', () => {
    const text = 'the cat sat on the mat and I said nothing'
    const before = classifier.classify(text, 'request')
    for (let count = 0; count < 40_000; count += 10) {
      classifier.classify(Array.from({ length: 10 }, (_, at) => `w${(count + at).toString(36)}`).join(' '), 'request')
    }
    assert.deepEqual(classifier.classify(text, 'request'), before)
  })

  it('has an identity for audit events', () => {
    assert.deepEqual(classifier.identity, { id: 'embedded', version: model.header.version, digest: model.digest })
    const metrics = JSON.parse(readFileSync(new URL('./metrics.json', import.meta.url), 'utf8'))
    assert.equal(metrics.model.digest, model.digest)
  })
})
