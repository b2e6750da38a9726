/**
 * A statement of a sentence or two is lost in the score of a long text. If the whole text scores a little, its passages are scored
 * one by one for the categories that are always blocked.
 */
import { appendText } from '../../../base/append-text.ts'
import { passagesOf } from '../normalise/passages.ts'
import { alwaysBlockedCategories, categories, type AlwaysBlockedCategory } from './categories.ts'
import {
  flagThreshold,
  type Classification,
  type Passage,
  type StreamResult,
  type SynchronousClassifier,
  type TextDirection,
} from './classifier.ts'

/**
 * From which score of the whole text its passages are scored. A text scores at most one raw unit below its highest window, and
 * no window of a text below these has had a passage that is flagged.
 */
const readFrom = { 'self-harm': 0.014, 'sexual/minors': 0.02 }
/** The second stage reads the passages with the highest scores, from this score on. */
const askFrom = 0.3
const mostAsked = 2
/** From this score on the first stage is certain. A passage with it counts at once if somebody speaks of themselves. */
export const certainScore = 0.9
const firstPerson = /\b(?:i|i['’]?m|me|my|myself)\b/i

/** What a text says if its words are disguised; none for most texts. */
export type FindReadings = (text: string) => readonly string[]

/** The scores of statements in languages other than English; undefined if there are none. */
export type ScoreLanguages = (text: string) => Readonly<Record<AlwaysBlockedCategory, number>> | undefined

export type PassageParts = { readonly findReadings?: FindReadings; readonly scoreLanguages?: ScoreLanguages }

/** A classifier that also scores the passages of a text, its other readings, and statements in other languages. */
export function withPassages<Kind extends SynchronousClassifier>(
  classifier: Kind,
  { findReadings = none, scoreLanguages = unscored }: PassageParts = {},
): Kind {
  const { classifyWhole } = classifier

  function refine(whole: Classification, text: string, direction: TextDirection): Classification {
    if (alwaysBlockedCategories.every((category) => whole.flagged.includes(category))) return whole
    const candidates = [
      ...findReadings(text).flatMap(inPassages),
      ...(mayHavePassage(whole) ? partsOf(whole, text) : noCandidates),
    ]
    const inLanguages = scoreLanguages(text)
    const found = inLanguages === undefined ? whole : withScores(whole, inLanguages)
    if (candidates.length === 0) return found
    return withCandidates(found, candidates, (candidate) => classifier.classify(candidate, direction))
  }

  return {
    ...classifier,
    classify: (text, direction) => refine(classifier.classify(text, direction), text, direction),
    startStream(direction) {
      const stream = classifier.startStream(direction)
      let text = ''
      return {
        ...stream,
        push(more) {
          text = appendText(text, more)
          stream.push(more)
        },
        end: () => refined(stream.end(), (whole) => refine(whole, text, direction)),
        [Symbol.dispose]: () => stream[Symbol.dispose](),
      }
    },
    ...(classifyWhole && {
      classifyWhole: (text, direction) =>
        refined(classifyWhole(text, direction), (whole) => refine(whole, text, direction)),
    }),
  }
}

/** The whole is computed when it is read, as in the stream. */
function refined(result: StreamResult, refine: (whole: Classification) => Classification): StreamResult {
  let whole: Classification | undefined
  return {
    decided: result.decided,
    get whole() {
      return (whole ??= refine(result.whole))
    },
  }
}

const mayHavePassage = ({ scores }: Classification): boolean =>
  isBetween(scores['self-harm'], readFrom['self-harm']) || isBetween(scores['sexual/minors'], readFrom['sexual/minors'])

const isBetween = (score: number, from: number): boolean => score >= from && score < flagThreshold

const none: FindReadings = () => []
const unscored: ScoreLanguages = () => undefined

type Candidate = Omit<Passage, 'score'> & { readonly text: string }

const noCandidates: readonly Candidate[] = []

/** A statement of self-harm is a sentence. Who is sexual with whom, and of which age, may stand in two. */
function partsOf({ scores }: Classification, text: string): readonly Candidate[] {
  const withPairs = isBetween(scores['sexual/minors'], readFrom['sexual/minors'])
  return passagesOf(text, withPairs).map(({ start, end }) => ({ start, end, text: text.slice(start, end) }))
}

/** A longer reading is scored in passages too. */
function inPassages(reading: string): readonly Candidate[] {
  const parts = passagesOf(reading, true).map(({ start, end }) => reading.slice(start, end))
  return [reading, ...parts].map((text) => ({ start: 0, end: 0, reading: text, text }))
}

function withCandidates(
  whole: Classification,
  candidates: readonly Candidate[],
  classify: (text: string) => Classification,
): Classification {
  const open = alwaysBlockedCategories.filter((category) => whole.scores[category] < flagThreshold)
  const asked: Passage[] = []
  const found = { 'self-harm': 0, 'sexual/minors': 0 }
  for (const { text, ...place } of candidates) {
    const { scores } = classify(text)
    const score = Math.max(...open.map((category) => scores[category]))
    if (score >= askFrom) asked.push({ ...place, score })
    for (const category of open)
      if (countsAtOnce(category, scores, { text, ...place }))
        found[category] = Math.max(found[category], scores[category])
  }
  const result = withScores(whole, found)
  if (asked.length === 0) return result
  return { ...result, passages: asked.toSorted((one, other) => other.score - one.score).slice(0, mostAsked) }
}

function withScores(whole: Classification, found: Readonly<Record<AlwaysBlockedCategory, number>>): Classification {
  const scores = {
    ...whole.scores,
    'self-harm': Math.max(whole.scores['self-harm'], found['self-harm']),
    'sexual/minors': Math.max(whole.scores['sexual/minors'], found['sexual/minors']),
  }
  return { ...whole, scores, flagged: categories.filter((category) => scores[category] >= flagThreshold) }
}

/** A reading has no context that may make it harmless, so it counts as a text of its own. */
function countsAtOnce(
  category: AlwaysBlockedCategory,
  scores: Classification['scores'],
  candidate: Candidate,
): boolean {
  if (candidate.reading !== undefined) return scores[category] >= flagThreshold
  return category === 'self-harm' && scores[category] >= certainScore && firstPerson.test(candidate.text)
}
