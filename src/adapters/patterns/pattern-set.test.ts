import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { RE2JS } from 're2js'
import { chunksOf, cutting, reportsOf } from '../../../test/support/detector.ts'
import { foldLiteral } from '../../domain/scan/detect/literals.ts'
import type { PatternSet } from '../../domain/scan/detect/patterns.ts'
import { compilePatternSet } from './pattern-set.ts'
import { compileProgram, operations, readsRune } from './pattern-program.ts'
import { re2Patterns } from './re2.ts'
import { requiredLiteral } from './required-literal.ts'

const compile = (...sources: string[]): PatternSet =>
  compilePatternSet(sources.map((source) => ({ source, ignoreCase: false })))

function reportOn(set: PatternSet, text: string): { matched: number; settledTo: number } {
  const stream = set.startDetector()
  stream.push(text)
  return { matched: stream.matched(), settledTo: stream.settledTo() }
}

const endOf = (set: PatternSet, chunks: readonly string[]): readonly number[] | undefined => {
  const stream = set.startDetector()
  for (const chunk of chunks) stream.push(chunk)
  const found = stream.end()
  return found && [...found].toSorted((first, second) => first - second)
}

const units = ['a', 'b', 'B', 'k', '\u212a', '1', '_', ' ', '\n', 'é', '😀', '\ud83d', '\ude00']

const characters = ['a', 'b', 'k', '1', ' ', '.', '\\n', 'é', '😀', '[ab]', '[^a]', '\\w', '\\s', '\\d']
const special = ['\\b', '\\B', '^', '$', '(?m:^)', '(?m:$)', '\\A', '\\z', '.*', '(?s:.)', '(?i:k)']

const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(...characters),
    fc.constantFrom(...special),
    fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `${left}${right}`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `(?:${left}|${right})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '*?'))
      .map(([one, times]) => `(${one})${times}`),
  ),
}))

/** A leading wildcard is not held back, although it belongs to the match. */
const withoutWildcard = pattern.filter((source) => !source.startsWith('.*'))

/** A text of `a` and `b` without a regular order. */
function disordered(length: number): string {
  let seed = 1
  const next = (): number => (seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0) >>> 16
  return Array.from({ length }, () => (next() % 2 === 0 ? 'a' : 'b')).join('')
}

const texts = fc.string({ unit: fc.constantFrom(...units), maxLength: 24 })

describe('a pattern set', () => {
  it('finds what each of its patterns finds, however the text is cut into chunks', () => {
    fc.assert(
      fc.property(fc.array(pattern, { minLength: 1, maxLength: 4 }), texts, cutting, (sources, text, cuts) => {
        const expected = sources.flatMap((source, at) => (RE2JS.compile(source).test(text) ? [at] : []))
        assert.deepEqual(endOf(compile(...sources), chunksOf(text, cuts)), expected)
      }),
      { numRuns: 2_000 },
    )
  })

  it('counts a match or keeps it pending at every position', () => {
    fc.assert(
      fc.property(withoutWildcard, texts, cutting, (source, whole, cuts) => {
        const hit = re2Patterns.compile(source, { ignoreCase: false }).find(whole)
        const set = compile(source)
        const reports = reportsOf(set.startDetector(), chunksOf(whole, cuts))
        for (const [at, { matched, settledTo, text }] of reports.entries()) {
          assert.ok(matched >= (reports[at - 1]?.matched ?? 0), 'the count falls')
          assert.ok(settledTo >= (reports[at - 1]?.settledTo ?? 0), 'the position falls')
          assert.deepEqual({ matched, settledTo }, reportOn(set, text))
          if (hit !== undefined && hit.start < settledTo) assert.ok(matched > 0, `${JSON.stringify(text)} is settled`)
          if (matched > 0) assert.ok(hit !== undefined, `${JSON.stringify(text)} has no match`)
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('has a required literal in every text that a pattern matches', () => {
    fc.assert(
      fc.property(fc.tuple(pattern, fc.constantFrom('ab', 'k1', 'bB'), pattern), texts, ([left, word, right], text) => {
        const source = `${left}${word}${right}`
        const literal = requiredLiteral(compileProgram([{ source, ignoreCase: false }]))
        if (literal !== undefined && RE2JS.compile(source).test(text))
          assert.ok(foldLiteral(text).includes(foldLiteral(literal)), `${source} requires ${literal}`)
      }),
      { numRuns: 5_000 },
    )
  })

  it('holds back only what may become a match', () => {
    const set = compile('(?i)\\bproject\\s+falcon\\b', '[0-9]{4}-[0-9]{4}')
    assert.deepEqual(reportOn(set, 'the Project'), { matched: 0, settledTo: 4 })
    assert.deepEqual(reportOn(set, 'the projector'), { matched: 0, settledTo: 13 })
    assert.deepEqual(reportOn(set, 'the project  falcon'), { matched: 0, settledTo: 4 })
    assert.deepEqual(reportOn(set, 'the project  falcon.'), { matched: 1, settledTo: 20 })
    assert.deepEqual(reportOn(set, 'in 2026-'), { matched: 0, settledTo: 3 })
    assert.deepEqual(reportOn(set, 'in 2026-1234'), { matched: 1, settledTo: 3 })
  })

  it('holds nothing back for a wildcard at the start of a pattern', () => {
    for (const source of ['.*secret', '(?i).*?secret', '.*.*secret.*']) {
      assert.deepEqual(reportOn(compile(source), 'an ordinary text '), { matched: 0, settledTo: 17 })
      assert.equal(reportOn(compile(source), 'a secret').matched, 1)
    }
  })

  it('gives up where a text has too many states, and later at once', () => {
    const set = compile('(?:a|b)*a(?:a|b){14}c')
    const hostile = disordered(20_000)
    for (let time = 0; time < 4; time++) assert.equal(endOf(set, [hostile]), undefined)
    assert.deepEqual(reportOn(set, 'x'), { matched: 1, settledTo: 0 })
  })

  it('stays correct when its states are discarded while a text streams', () => {
    const set = compile('(?:a|b)*a(?:a|b){9}c', 'falcon')
    const [slow, fast] = [set.startDetector(), set.startDetector()]
    slow.push('fal')
    fast.push(disordered(2_000))
    slow.push('con aaaaaaaaaaac')
    assert.deepEqual(slow.end(), new Set([1, 0]))
  })

  it('of too many instructions gives up', () => {
    const set = compile(...Array.from({ length: 50 }, (_, at) => `(?:x${at}|[a-z]){900}`))
    assert.equal(endOf(set, ['a']), undefined)
  })
})

describe('a pattern program', () => {
  it('has the operations of the installed re2js', () => {
    const { instructions } = compileProgram(
      ['(a|b)*', '\\bx$', '[ab]', '.', '(?s:.)', '', '[^\\x00-\\x{10FFFF}]'].map((source) => ({
        source,
        ignoreCase: false,
      })),
    )
    const names = new Map<number, string>(Object.entries(operations).map(([name, op]) => [op, name]))
    for (const instruction of instructions) {
      const [shown = ''] = String(instruction).split(' ')
      const name = readsRune(instruction) ? 'rune' : names.get(instruction.op)
      assert.ok(name !== undefined && (shownNames[name] ?? []).includes(shown), `${instruction.op} is ${shown}`)
    }
    const ops = new Set(instructions.map(({ op }) => op))
    assert.deepEqual(
      [...ops].toSorted((first, second) => first - second),
      [1, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    )
  })
})

/** How re2js shows its instructions. */
const shownNames: Readonly<Record<string, readonly string[]>> = {
  branch: ['alt'],
  capture: ['cap'],
  emptyMatch: ['empty'],
  fail: ['fail'],
  match: ['match'],
  nothing: ['nop'],
  rune: ['rune', 'rune1', 'any', 'anynotnl'],
}
