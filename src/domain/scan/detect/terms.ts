/**
 * Allowlist and denylist terms. Plain terms are matched by one automaton at word boundaries of the normal form (`ass` does not
 * match `class`); `/…/` and `/…/i` are regular expressions over the source text.
 */
import { hash } from 'node:crypto'
import { Fault } from '../../../base/fault.ts'
import { compileLiterals } from './literals.ts'
import { createSourceMap, isAscii, latinForm, normalise } from '../normalise/normalise.ts'
import type { Span } from '../normalise/normalise.ts'
import type { Pattern, PatternEngine, PatternSet, SourcePattern } from './patterns.ts'
import { joinDetectors, type Detector } from './detector.ts'
import { createTermAutomaton, findWords, type TermAutomaton } from './term-cursor.ts'
import { startTermDetector } from './term-detector.ts'

/** The first match of a term, as a range of the source text. */
export type TermHit = Span & { readonly term: string }

export type Terms = {
  readonly count: number
  /** Equal for equal lists of terms. */
  readonly digest: string
  /** Each term at most once, in the order of the list. Takes linear time. */
  find(text: string): readonly TermHit[]
  /** Length of the longest plain term in normal form: the longest possible pending match. */
  readonly longest: number
  /** The patterns that depend on the start or end of the text or of a line: they need the whole text. */
  readonly anchored: ReadonlySet<string>
  /** Searches a streamed text for all terms. */
  startDetector(): Detector
}

const expression = /^\/(?<source>.+)\/(?<flags>i?)$/s

/** A pattern with unsupported flags. As a plain term it would never match. */
const flagged = /^\/.+\/[dgimsuvy]+$/s

/** Throws a Fault if a term is empty or its pattern is not valid. */
export function compileTerms(terms: readonly string[], engine: PatternEngine): Terms {
  const distinct = [...new Set(terms)]
  const plain = distinct.filter((term) => !isExpression(term))
  const plainTerms = compilePlainTerms(plain)
  const patterns = distinct.filter(isExpression).map((term) => compilePattern(term, engine))
  const rank = new Map(distinct.map((term, index) => [term, index]))
  return {
    count: distinct.length,
    longest: plainTerms.longest,
    anchored: new Set(patterns.filter(({ pattern }) => pattern.isAnchored).map(({ term }) => term)),
    digest: hash('sha256', JSON.stringify(distinct), 'base64url'),
    find(text) {
      const hits = plain.length > 0 ? plainTerms.find(text) : []
      for (const { term, pattern } of patterns) {
        const found = pattern.find(text)
        if (found !== undefined) hits.push({ term, ...found })
      }
      return hits.sort((first, second) => (rank.get(first.term) ?? 0) - (rank.get(second.term) ?? 0))
    },
    startDetector: createStartDetector(
      plainTerms,
      patterns.map(({ term }) => sourcePattern(term)),
      engine,
    ),
  }
}

/** The patterns are compiled into one when the first text streams. */
function createStartDetector(
  plain: TermAutomaton,
  patterns: readonly SourcePattern[],
  engine: PatternEngine,
): () => Detector {
  let set: PatternSet | undefined
  return () =>
    joinDetectors([
      ...(plain.words.length > 0 ? [startTermDetector(plain)] : []),
      ...(patterns.length > 0 ? [(set ??= engine.compileSet(patterns)).startDetector()] : []),
    ])
}

/** Validates a term before it is saved, more strictly than `compileTerms`. Returns the size of its pattern, 0 for a plain term. */
export function checkTerm(term: string, engine: PatternEngine): number {
  if (isExpression(term)) return compilePattern(term, engine).pattern.size
  if (flagged.test(term))
    throw new Fault('validation', 'invalid_parameter', `The term ${term} has unsupported flags; only i is allowed.`)
  wordOf(term)
  return 0
}

export const isExpression = (term: string): boolean => expression.test(term)

function compilePattern(term: string, engine: PatternEngine): { term: string; pattern: Pattern } {
  const { source, ignoreCase } = sourcePattern(term)
  try {
    return { term, pattern: engine.compile(source, { ignoreCase }) }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Fault('validation', 'invalid_parameter', `The term ${term} is not a valid pattern: ${reason}`, { cause })
  }
}

function sourcePattern(term: string): SourcePattern {
  const { source = '', flags } = expression.exec(term)?.groups ?? {}
  return { source, ignoreCase: flags === 'i' }
}

export type PlainTerms = TermAutomaton & {
  find(text: string): TermHit[]
  /** The terms of a word of the automaton, by its index. */
  termsOf(word: number): readonly string[]
}

/** Terms that are not patterns, even between slashes. */
export function compilePlainTerms(terms: readonly string[]): PlainTerms {
  const termsByWord = searchForms(terms)
  const searched = createTermAutomaton([...termsByWord.keys()])
  const { words } = searched
  const termsOf = (word: number): readonly string[] => termsByWord.get(words[word] ?? '') ?? []
  const asciiWords = compileLiterals(longestAsciiWords(words))
  const find = (text: string): TermHit[] => {
    // Most texts are ASCII and contain the longest word of no term.
    if (isAscii(text) && !asciiWords.isAnyIn(text)) return []
    const found = findWords(searched, normalise(text))
    if (found.size === 0) return []
    const toSource = createSourceMap(text)
    const hits = new Map<string, TermHit>()
    for (const [word, span] of found) {
      for (const term of termsOf(word)) {
        if (!hits.has(term)) hits.set(term, { term, ...toSource(span) })
      }
    }
    return [...hits.values()]
  }
  return { ...searched, find, termsOf }
}

/** The longest word of each normal form that an ASCII text may contain. */
export function longestAsciiWords(forms: readonly string[]): readonly string[] {
  const longestOf = (form: string): string =>
    form.split(' ').reduce((longest, word) => (word.length > longest.length ? word : longest))
  return [...new Set(forms.filter(isAscii).map(longestOf))]
}

/** Each form to search for, with the terms it belongs to. */
function searchForms(terms: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const termsByWord = new Map<string, string[]>()
  for (const term of terms) {
    const word = wordOf(term)
    // In a Latin text a word of homoglyphs is folded to Latin, so the term is searched in both forms.
    for (const form of new Set([word, latinForm(word) ?? word])) {
      termsByWord.set(form, [...(termsByWord.get(form) ?? []), term])
    }
  }
  return termsByWord
}

/** The normal form of a plain term. */
function wordOf(term: string): string {
  const word = normalise(term).trim().replace(/\s+/g, ' ')
  if (word === '') throw new Fault('validation', 'invalid_parameter', 'A term must not be empty.')
  return word
}
