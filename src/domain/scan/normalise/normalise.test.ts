import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createSourceMap, normalise } from './normalise.ts'

const same: readonly (readonly [title: string, written: string, plain: string])[] = [
  ['case', 'HeLLo', 'hello'],
  ['full width', 'Ｈｅｌｌｏ', 'hello'],
  ['accents, composed or not', 'héllo he\u0301llo', 'hello hello'],
  ['struck-through letters', 'h\u0336e\u0336l\u0336l\u0336o\u0336', 'hello'],
  ['invisible characters', 'h\u200be\u00adl\u2060l\ufe0fo', 'hello'],
  ['tag characters', 'hello\u{e0041}\u{e0042}', 'hello'],
  ['mathematical letters', '𝓱𝒆𝔩𝗅𝚘', 'hello'],
  ['enclosed letters and flags', '🅷🅴🅻🅻🅾 🇭🇮', 'hello hi'],
  ['small capitals', 'ʜᴇʟʟᴏ', 'hello'],
  ['ligatures and sharp s', 'ﬁne Straße', 'fine strasse'],
  ['Arabic and Hindi punctuation', 'نعم، لا؟ भाषा।', 'نعم, لا? भाषा.'],
  ['curly quotes and dashes', '“it’s” — so', '"it\'s" - so'],
  ['Cyrillic inside a Latin word', 'hеllо', 'hello'],
  ['a word of homoglyphs in a Latin text', 'please have ѕех with care', 'please have sex with care'],
]

describe('the normal form', () => {
  for (const [title, written, plain] of same) it(`folds ${title}`, () => assert.equal(normalise(written), plain))

  it('keeps other scripts', () => {
    assert.equal(normalise('Экономический рост'), 'экономическии рост')
    assert.equal(normalise('Καλημέρα κόσμε'), 'καλημερα κοσμε')
    assert.equal(normalise('日本語 भाषा'), '日本語 भाषा')
  })

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const once = normalise(text)
        assert.equal(normalise(once), once)
      }),
    )
  })

  it('maps every position back to the source', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
        const folded = normalise(text)
        const toSource = createSourceMap(text)
        for (let start = 0; start < folded.length; start++) {
          const span = toSource({ start, end: start + 1 })
          assert.ok(span.start >= 0 && span.start < span.end && span.end <= text.length)
        }
      }),
    )
  })

  it('takes linear time for text made of expansions and homoglyphs', () => {
    assert.equal(normalise('ﷺ'.repeat(20_000)).length, 18 * 20_000)
    assert.equal(normalise('аb'.repeat(200_000)).length, 400_000)
    assert.equal(normalise(`α ${'a'.repeat(1_000_000)}`).length, 1_000_002)
  })
})
