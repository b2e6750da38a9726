import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { chunksOf, cutting, reportsOf } from '../../../../test/support/detector.ts'
import { re2Patterns } from '../../../adapters/patterns/re2.ts'
import { dependsOnContext, normalise } from '../normalise/normalise.ts'
import { compileTerms, type Terms } from './terms.ts'

const compile = (...terms: string[]): Terms => compileTerms(terms, re2Patterns)

/** What the detector reports after the text. */
function reportOn(terms: Terms, text: string): { matched: number; settledTo: number } {
  const detector = terms.startDetector()
  detector.push(text, text)
  return { matched: detector.matched(), settledTo: detector.settledTo() }
}

const plain = [
  'a',
  'b',
  'ab',
  'B',
  'ä',
  ' ',
  ' ',
  '\n ',
  '-',
  '字',
  '\u200b',
  '…',
  'ß',
  '\u0301',
  '\ufe0f',
  '😀',
  '\ud83d',
]
const fragments = fc.constantFrom(...plain)
/** With letters that are folded depending on the text around them. */
const anyFragments = fc.oneof(fragments, fc.constantFrom('а', 'о', 'ш', 'ѕ', 'α', 'Σ', '\u037e'))
const termsOf = (unit: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.string({ unit, minLength: 1, maxLength: 4 }).filter((term) => normalise(term).trim() !== '')

describe('terms in a streamed text', () => {
  it('count once the character after them shows that they are whole words', () => {
    const terms = compile('ass', 'top secret')
    assert.deepEqual(reportOn(terms, 'such an ass'), { matched: 0, settledTo: 8 })
    assert.deepEqual(reportOn(terms, 'such an assign'), { matched: 0, settledTo: 14 })
    assert.deepEqual(reportOn(terms, 'such an ass,'), { matched: 1, settledTo: 12 })
    assert.deepEqual(reportOn(terms, 'Top \n secret.'), { matched: 1, settledTo: 13 })
  })

  it('are pending only from a word boundary', () => {
    const terms = compile('ass', 'top secret')
    assert.equal(reportOn(terms, 'the class').settledTo, 9)
    assert.equal(reportOn(terms, 'a desktop sec').settledTo, 13)
    assert.equal(reportOn(terms, 'a top  sec').settledTo, 2)
    assert.equal(reportOn(terms, 'a top of').settledTo, 8)
  })

  it('are found across invisible, wide and confusable characters', () => {
    const terms = compile('vodka')
    for (const text of ['a v\u200bоd\u00adkа!', 'ａ ｖｏｄｋａ ', '𝓿𝓸𝓭𝓴𝓪 '])
      assert.equal(reportOn(terms, text).matched, 1, text)
    assert.equal(reportOn(terms, 'a v\u200bо').settledTo, 2)
  })

  it('between slashes are patterns', () => {
    const terms = compile('red', '/proj-[0-9]{4}/i')
    assert.deepEqual(reportOn(terms, 'see Proj-12'), { matched: 0, settledTo: 4 })
    assert.deepEqual(reportOn(terms, 'see Proj-1234 re'), { matched: 1, settledTo: 14 })
  })

  it('are reported alike however the text is cut into chunks', () => {
    fc.assert(
      fc.property(
        fc.array(termsOf(anyFragments), { minLength: 1, maxLength: 6 }),
        fc.array(anyFragments, { maxLength: 24 }),
        cutting,
        (list, words, cuts) => {
          const terms = compile(...list)
          const reports = reportsOf(terms.startDetector(), chunksOf(words.join(''), cuts))
          for (const { text, matched, settledTo } of reports)
            assert.deepEqual({ matched, settledTo }, reportOn(terms, text), JSON.stringify(text))
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('that the search of the complete text finds are counted or still pending at every position', () => {
    fc.assert(
      fc.property(termsOf(anyFragments), fc.array(anyFragments, { maxLength: 24 }), (term, words) => {
        const terms = compile(term)
        const whole = words.join('')
        const [hit] = terms.find(whole)
        const reports = reportsOf(terms.startDetector(), [...whole])
        for (const [at, { matched, settledTo, text }] of reports.entries()) {
          assert.ok(matched >= (reports[at - 1]?.matched ?? 0), 'the count falls')
          assert.ok(settledTo >= (reports[at - 1]?.settledTo ?? 0), 'the position falls')
          if (hit !== undefined && hit.start < settledTo) assert.ok(matched > 0, `${JSON.stringify(text)} is settled`)
        }
      }),
      { numRuns: 5_000 },
    )
  })

  it('are those of the complete text where no letter depends on its context', () => {
    fc.assert(
      fc.property(termsOf(fragments), fc.array(fragments, { maxLength: 24 }), (term, words) => {
        const text = `${words.join('')} .`
        assert.equal(dependsOnContext(text), false)
        const terms = compile(term)
        assert.equal(reportOn(terms, text).matched, terms.find(text).length)
      }),
      { numRuns: 5_000 },
    )
  })

  it('hold back all further text after a word of a thousand homoglyphs', () => {
    const terms = compile('vodka')
    assert.deepEqual(reportOn(terms, `so ${'а'.repeat(2_000)} and on`), { matched: 2_007, settledTo: 3 })
  })
})
