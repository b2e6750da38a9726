import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { re2Patterns } from '../../../adapters/patterns/re2.ts'
import { isFault } from '../../../base/fault.ts'
import { normalise } from '../normalise/normalise.ts'
import { checkTerm, compileTerms } from './terms.ts'
import { isWordCode } from '../normalise/words.ts'

const matchesOf = (terms: readonly string[], text: string): readonly string[] =>
  compileTerms(terms, re2Patterns)
    .find(text)
    .map((hit) => text.slice(hit.start, hit.end))

describe('terms', () => {
  it('match whole words only', () => {
    assert.deepEqual(matchesOf(['ass'], 'first class passengers assess the mass'), [])
    assert.deepEqual(matchesOf(['ass'], 'what an ASS, he said'), ['ASS'])
    assert.deepEqual(matchesOf(['ass'], 'snake_ass_case and "ass".'), ['ass'])
  })

  it('match phrases with any white space between their words', () => {
    assert.deepEqual(matchesOf(['top secret'], 'this is Top \n\t Secret!'), ['Top \n\t Secret'])
    assert.deepEqual(matchesOf([' top  secret '], 'a topsecret thing, top secrets'), [])
  })

  it('match confusable, wide, accented and invisible characters, and give the position in the source', () => {
    assert.deepEqual(matchesOf(['vodka'], 'a glass of vоdkа'), ['vоdkа'])
    assert.deepEqual(matchesOf(['vodka'], 'ａ ｖｏｄｋａ please'), ['ｖｏｄｋａ'])
    assert.deepEqual(matchesOf(['vodka'], '“Vö\u200bd\u00adka”'), ['Vö\u200bd\u00adka'])
    assert.deepEqual(matchesOf(['vodka'], '😀 𝓿𝓸𝓭𝓴𝓪 😀'), ['𝓿𝓸𝓭𝓴𝓪'])
  })

  it('match in other scripts, in their own text and in a Latin one', () => {
    assert.deepEqual(matchesOf(['рост'], 'экономический рост России'), ['рост'])
    assert.deepEqual(matchesOf(['рост'], 'the word рост means growth'), ['рост'])
    assert.deepEqual(matchesOf(['自殺'], '彼は自殺した'), ['自殺'])
    assert.deepEqual(matchesOf(['한국'], '한국 여행'), ['한국'])
  })

  it('may begin or end with punctuation', () => {
    assert.deepEqual(matchesOf(['c++', '.env', 'at&t'], 'C++ code reads config.env at AT&T'), ['C++', '.env', 'AT&T'])
  })

  it('are each reported once, at their first position, in the order of the list', () => {
    const hits = compileTerms(['red', 'blue', 'red'], re2Patterns).find('blue red blue red')
    assert.deepEqual(hits, [
      { term: 'red', start: 5, end: 8 },
      { term: 'blue', start: 0, end: 4 },
    ])
  })

  it('between slashes are regular expressions over the source text', () => {
    assert.deepEqual(matchesOf(['/proj-[0-9]{4}/'], 'see proj-1234 and PROJ-9999'), ['proj-1234'])
    assert.deepEqual(matchesOf(['/proj-[0-9]{4}/i'], 'see PROJ-9999'), ['PROJ-9999'])
    assert.deepEqual(matchesOf(['/a/b/'], 'path a/b here'), ['a/b'])
  })

  it('are rejected if they are empty or not a valid pattern', () => {
    for (const term of ['', ' \u200b ', '/(/', '/(?=x)/']) {
      assert.throws(
        () => compileTerms([term], re2Patterns),
        (error) => isFault(error) && error.kind === 'validation',
      )
    }
  })

  it('are rejected when saved if they look like patterns with unsupported flags', () => {
    for (const term of ['/secret/g', '/secret/gi', '/a/b/ims']) {
      assert.throws(() => checkTerm(term, re2Patterns), /only i is/)
    }
    for (const term of ['/secret/i', '/usr/bin', '/etc/hosts', 'and/or']) checkTerm(term, re2Patterns)
  })

  it('match what a naive search matches, for any terms and text', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'ä', ' ', '-', 'а', '字'), minLength: 1, maxLength: 4 })
    const nonEmpty = word.filter((term) => normalise(term).trim() !== '')
    fc.assert(
      fc.property(
        fc.array(nonEmpty, { minLength: 1, maxLength: 8 }),
        fc.array(word, { maxLength: 12 }),
        (terms, words) => {
          const text = words.join('')
          const hits = compileTerms(terms, re2Patterns).find(text)
          assert.deepEqual(
            hits.map((hit) => hit.term),
            [...new Set(terms)].filter((term) => matchesNaively(term, text)),
          )
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('take linear time for hostile texts and terms', () => {
    const nested = Array.from({ length: 400 }, (_, count) => 'a'.repeat(count + 1))
    assert.equal(compileTerms(nested, re2Patterns).find(`${'a'.repeat(1_000_000)}b`).length, 0)
    const phrases = Array.from({ length: 300 }, (_, count) => 'a '.repeat(count + 1).trim())
    assert.equal(compileTerms(phrases, re2Patterns).find('a '.repeat(500_000)).length, 300)
    const blank = ' '.repeat(500_000)
    for (const [text, settledTo] of [
      [`a${blank}`, 0],
      [`${blank}${blank}`, 1_000_000],
    ] as const) {
      const detector = compileTerms(['a b'], re2Patterns).startDetector()
      detector.push(text, text)
      assert.equal(detector.settledTo(), settledTo)
    }
    assert.equal(compileTerms(['/(a+)+$/'], re2Patterns).find(`${'a'.repeat(100_000)}b`).length, 0)
  })
})

function matchesNaively(term: string, text: string): boolean {
  const squeeze = (value: string): string => normalise(value).replace(/\s+/g, ' ')
  const haystack = squeeze(text)
  return [squeeze(term).trim(), normalise(`x ${term}`).slice(2).trim().replace(/\s+/g, ' ')].some((needle) => {
    for (let at = haystack.indexOf(needle); at >= 0; at = haystack.indexOf(needle, at + 1)) {
      const end = at + needle.length
      const joined = (left: number): boolean =>
        left >= 0 &&
        left + 1 < haystack.length &&
        isWordCode(haystack.charCodeAt(left)) &&
        isWordCode(haystack.charCodeAt(left + 1))
      if (!joined(at - 1) && !joined(end - 1)) return true
    }
    return false
  })
}
