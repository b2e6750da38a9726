import { andThen, sequentially, type MaybePromise } from '../../base/maybe-promise.ts'
import { encodedTexts } from '../scan/normalise/encoded-text.ts'
import { compileLiterals, foldLiteral } from '../scan/detect/literals.ts'
import { startInCase, type LetterCase } from '../scan/detect/letter-case.ts'
import type { PatternEngine } from '../scan/detect/patterns.ts'
import { isAscii } from '../scan/normalise/normalise.ts'
import { slicesOf } from '../scan/normalise/slices.ts'
import { joinDetectors, type Detector, type SearchDetector } from '../scan/detect/detector.ts'
import { startTermDetector } from '../scan/detect/term-detector.ts'
import { compilePlainTerms, longestAsciiWords } from '../scan/detect/terms.ts'
import type { CompiledRule, RuleTrigger } from './compiled-rule.ts'
import type { RuleFacts } from './rule.ts'

/** Finds the rules that may match a text, in one pass over it however many rules there are. */
export type TriggerIndex = {
  /** By rule: 1 if it may match or fail. All others give a score of 0. */
  candidates(facts: RuleFacts, pause: () => Promise<unknown>): MaybePromise<Uint8Array>
  /** Searches a streamed text for everything in the text that may make a rule match. */
  startDetector(): Detector
}

/** The least score that is not rounded to 0 basis points. */
export const leastScore = 0.00005
/** Characters read between two yields to the event loop. */
const charactersPerYield = 65_536

export function createTriggerIndex(rules: readonly CompiledRule[], engine: PatternEngine): TriggerIndex {
  const anyText = rules.flatMap(({ condition }, rule) => (condition === undefined ? [rule] : []))
  const limited = rules.flatMap(({ condition }, rule) =>
    condition === undefined || condition.maxCharacters === Infinity ? [] : [{ rule, most: condition.maxCharacters }],
  )
  const triggers = rules.flatMap(({ condition }, rule) => condition?.anyOf.map((trigger) => ({ rule, trigger })) ?? [])
  const scores = triggers.flatMap(({ rule, trigger }) => {
    if (trigger.kind === 'category') return { rule, ...trigger }
    return trigger.kind === 'category_score' ? { rule, name: trigger.name, atLeast: leastScore } : []
  })
  const counts = triggers.flatMap(({ rule, trigger }) => (trigger.kind === 'personal_data' ? { rule, ...trigger } : []))
  const injections = triggers.flatMap(({ rule, trigger }) =>
    trigger.kind === 'prompt_injection' ? { rule, ...trigger } : [],
  )
  const searches = createTextSearches(triggers, { engine, phraseMark: rules.length })

  function markByFacts({ text, categories, pii, prompt_injection: found = {} }: RuleFacts): Uint8Array {
    const marks = new Uint8Array(rules.length + 1)
    for (const rule of anyText) marks[rule] = 1
    for (const { rule, most } of limited) if (text.length > most) marks[rule] = 1
    // A missing score makes a rule fail, so it counts as reached.
    for (const { rule, name, atLeast } of scores) if (!((categories[name] ?? 1) < atLeast)) marks[rule] = 1
    for (const { rule, name, atLeast } of counts) if ((pii[name] ?? 0) >= atLeast) marks[rule] = 1
    for (const { rule, name, atLeast } of injections) if ((found[name] ?? 0) >= atLeast) marks[rule] = 1
    return marks
  }

  return {
    candidates(facts, pause) {
      const marks = markByFacts(facts)
      const { text } = facts
      const searching = sequentially(searches.ofText, (search) => {
        if (search.isSkipped?.(text, marks)) return markAll(marks, search.skippedRules?.(text) ?? [])
        if (search.rules.length < search.leastRules) return markAll(marks, search.rules)
        const run = search.start()
        return andThen(readInParts(run, text, pause), () => markAll(marks, run.end(text)))
      })
      return andThen(searching, () => marks.subarray(0, rules.length))
    },
    startDetector: () => joinDetectors(searches.ofStream.map((search) => search.start())),
  }
}

function markAll(marks: Uint8Array, rules: readonly number[]): void {
  for (const rule of rules) marks[rule] = 1
}

function readInParts(
  run: Pick<SearchDetector, 'push'>,
  text: string,
  pause: () => Promise<unknown>,
): MaybePromise<unknown> {
  if (text.length <= charactersPerYield) return run.push(text)
  const starts = Array.from({ length: Math.ceil(text.length / charactersPerYield) }, (_, at) => at * charactersPerYield)
  return sequentially(starts, (start) => {
    run.push(text.slice(start, start + charactersPerYield))
    return pause()
  })
}

type RuleTriggers = readonly { readonly rule: number; readonly trigger: RuleTrigger }[]

/** One automaton. */
type TextSearch = {
  /** The rules that it is for. */
  readonly rules: readonly number[]
  /** The search costs less than the evaluation of this many rules. */
  readonly leastRules: number
  start(): StartedSearch
}

type StartedSearch = Omit<SearchDetector, 'end'> & {
  /** The rules whose triggers are in the text. Call once, at the end of the text. */
  end(text: string): readonly number[]
}

/** A search that is not needed where an earlier one of the same text found nothing. */
type LaterSearch = TextSearch & {
  readonly isSkipped?: (text: string, marks: Uint8Array) => boolean
  /** The rules to mark if it is skipped. */
  readonly skippedRules?: (text: string) => readonly number[]
}

type TextSearches = { readonly ofText: readonly LaterSearch[]; readonly ofStream: readonly TextSearch[] }

/** `phraseMark`: where the search for literals marks that a word of a phrase is in the text. */
type TextSearchParts = { readonly engine: PatternEngine; readonly phraseMark: number }

/** Shorter ones are in most texts. */
const leastLiteral = 3

/**
 * A complete text is first searched for the literals of all rules: those that rules name, those that every match of a pattern
 * contains, and the longest word of each phrase. Most texts need no further search. A streamed text is searched for all at once.
 */
function createTextSearches(triggers: RuleTriggers, { engine, phraseMark }: TextSearchParts): TextSearches {
  const literals = rulesBy(triggers, (trigger) => (trigger.kind === 'literal' ? foldLiteral(trigger.text) : undefined))
  const phrases = rulesBy(triggers, (trigger) => (trigger.kind === 'phrase' ? trigger.text : undefined))
  const firsts = rulesBy(triggers, firstLiteral)
  const others = triggers.filter(({ trigger }) => firstLiteral(trigger) === undefined)
  const phrase = phrases.size > 0 ? [phraseSearch(phrases)] : []
  const words = new Map(phrase.flatMap(({ asciiWords }) => asciiWords.map((word) => [word, [phraseMark]] as const)))
  const all = joined(firsts, words)
  return {
    ofText: [
      ...(all.size > 0 ? [{ ...literalSearch(all), rules: [...firsts.values(), ...phrases.values()].flat() }] : []),
      ...phrase.map((search) => ({
        ...search,
        isSkipped: (text: string, marks: Uint8Array) => marks[phraseMark] === 0 && isAscii(text),
      })),
      ...patternSearches(others, engine),
    ],
    ofStream: [
      ...(literals.size > 0 ? [literalSearch(literals)] : []),
      ...phrase,
      ...patternSearches(triggers, engine),
    ],
  }
}

/** The form of a literal without which the trigger does not hold. */
function firstLiteral(trigger: RuleTrigger): string | undefined {
  if (trigger.kind === 'literal') return foldLiteral(trigger.text)
  const literal = trigger.kind === 'pattern' ? (trigger.literal ?? '') : ''
  return literal.length < leastLiteral ? undefined : foldLiteral(literal)
}

function joined(first: RulesByText, second: RulesByText): RulesByText {
  const both = new Map(first)
  for (const [text, rules] of second) both.set(text, [...(both.get(text) ?? []), ...rules])
  return both
}

type RulesByText = ReadonlyMap<string, readonly number[]>

function rulesBy(triggers: RuleTriggers, textOf: (trigger: RuleTrigger) => string | undefined): RulesByText {
  const rules = new Map<string, number[]>()
  for (const { rule, trigger } of triggers) {
    const text = textOf(trigger)
    if (text !== undefined) rules.set(text, [...(rules.get(text) ?? []), rule])
  }
  return rules
}

function literalSearch(literals: RulesByText): TextSearch {
  const rules = [...literals.values()]
  const set = compileLiterals([...literals.keys()])
  return {
    rules: rules.flat(),
    leastRules: 4,
    start() {
      const detector = set.startDetector()
      return { ...detector, end: () => rulesOf(rules, detector.end()) }
    },
  }
}

type PhraseSearch = TextSearch & {
  /** The longest word of each phrase that an ASCII text may contain. */
  readonly asciiWords: readonly string[]
  /** The rules whose phrases are in the texts that are encoded in the text. */
  skippedRules(text: string): readonly number[]
}

/** Phrases are also searched in the texts that are encoded in the text. */
function phraseSearch(phrases: RulesByText): PhraseSearch {
  const terms = compilePlainTerms([...phrases.keys()])
  const everyRule = [...phrases.values()].flat()
  const rulesByWord = terms.words.map((_, word) => terms.termsOf(word).flatMap((phrase) => phrases.get(phrase) ?? []))
  const rulesIn = (text: string): readonly number[] => {
    const detector = startTermDetector(terms)
    detector.push(text)
    return rulesOf(rulesByWord, detector.end())
  }
  const rulesInEncoded = (text: string): readonly number[] =>
    slicesOf(text).flatMap((slice) => encodedTexts(slice.text).flatMap((encoded) => rulesIn(encoded.text)))
  return {
    rules: everyRule,
    leastRules: 12,
    asciiWords: longestAsciiWords(terms.words),
    skippedRules: rulesInEncoded,
    start() {
      const detector = startTermDetector(terms)
      return { ...detector, end: (text) => [...rulesOf(rulesByWord, detector.end()), ...rulesInEncoded(text)] }
    },
  }
}

/** One search for each case in which rules search the text. */
const patternSearches = (triggers: RuleTriggers, engine: PatternEngine): readonly TextSearch[] =>
  [undefined, 'lower' as const, 'upper' as const].flatMap((letterCase) => {
    const patterns = rulesBy(triggers, (trigger) =>
      trigger.kind === 'pattern' && trigger.letterCase === letterCase ? trigger.source : undefined,
    )
    return patterns.size > 0 ? [patternSearch(patterns, engine, letterCase)] : []
  })

function patternSearch(patterns: RulesByText, engine: PatternEngine, letterCase: LetterCase | undefined): TextSearch {
  const rules = [...patterns.values()]
  const set = engine.compileSet([...patterns.keys()].map((source) => ({ source, ignoreCase: false })))
  return {
    rules: rules.flat(),
    leastRules: 2,
    start() {
      const inText = set.startDetector()
      const detector = letterCase === undefined ? inText : startInCase(inText, letterCase)
      return { ...detector, end: () => rulesOf(rules, detector.end()) }
    },
  }
}

/** The rules of what was found, by its index. All rules if the search gave up. */
const rulesOf = (rules: readonly (readonly number[])[], found: ReadonlySet<number> | undefined): readonly number[] =>
  found === undefined ? rules.flat() : [...found].flatMap((index) => rules[index] ?? [])
