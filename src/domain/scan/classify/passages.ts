/**
 * A statement of a sentence or two is lost in the score of a long text. If the whole text scores a little, its passages are scored
 * one by one for the categories that are always blocked.
 */
import { appendText } from '../../../base/append-text.ts'
import { passagesOf } from '../normalise/passages.ts'
import { alwaysBlockedCategories, categories } from './categories.ts'
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

/** A classifier that also scores the passages of a text. */
export function withPassages<Kind extends SynchronousClassifier>(classifier: Kind): Kind {
  const { classifyWhole } = classifier
  const refine = (whole: Classification, text: string, direction: TextDirection): Classification =>
    mayHavePassage(whole) ? withPassagesOf(whole, text, (passage) => classifier.classify(passage, direction)) : whole

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

function withPassagesOf(
  whole: Classification,
  text: string,
  classify: (passage: string) => Classification,
): Classification {
  const open = alwaysBlockedCategories.filter((category) => whole.scores[category] < flagThreshold)
  const asked: Passage[] = []
  let certain = 0
  // A statement of self-harm is a sentence. Who is sexual with whom, and of which age, may stand in two.
  const withPairs = open.includes('sexual/minors') && whole.scores['sexual/minors'] >= readFrom['sexual/minors']
  for (const { start, end } of passagesOf(text, withPairs)) {
    const passage = text.slice(start, end)
    const { scores } = classify(passage)
    const score = Math.max(...open.map((category) => scores[category]))
    if (score >= askFrom) asked.push({ start, end, score })
    if (scores['self-harm'] >= certainScore && firstPerson.test(passage)) certain = scores['self-harm']
  }
  const result = certain >= flagThreshold && open.includes('self-harm') ? withSelfHarm(whole, certain) : whole
  if (asked.length === 0) return result
  return { ...result, passages: asked.toSorted((one, other) => other.score - one.score).slice(0, mostAsked) }
}

function withSelfHarm(whole: Classification, score: number): Classification {
  const scores = { ...whole.scores, 'self-harm': score }
  return { ...whole, scores, flagged: categories.filter((category) => scores[category] >= flagThreshold) }
}
