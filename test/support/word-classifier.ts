import { perCategory, type PerCategory } from '../../src/domain/scan/classify/categories.ts'
import {
  noClassification,
  strongest,
  type Classification,
  type HoldBackBounds,
  type SynchronousClassifier,
  type SynchronousStream,
} from '../../src/domain/scan/classify/classifier.ts'

/** The score of self-harm by word: far below, below and above the bounds of `wordBounds`, above the threshold, and certain. */
const scoresByWord: Readonly<Record<string, number>> = { wary: 0.005, grave: 0.2, noose: 0.7, poison: 0.9 }

const wordBounds: HoldBackBounds = {
  categories: perCategory(() => ({ elevatedFrom: -6, holdFrom: -3 })),
  keptBackCharacters: 20,
  openingWords: 3,
}

const windowWords = 12
const pointWords = 8

const scoresOf = (score: number): PerCategory<number> =>
  perCategory((category) => (category === 'self-harm' ? score : 0.0001))

function classificationOf(text: string): Classification {
  const words = text.split(/\s+/)
  const score = Math.max(0.0001, ...words.map((word) => scoresByWord[word] ?? 0))
  return { scores: scoresOf(score), flagged: score >= 0.5 ? ['self-harm'] : [] }
}

/** The words of a text with their ends. */
const wordsOf = (text: string): readonly { readonly word: string; readonly start: number; readonly end: number }[] =>
  Array.from(text.matchAll(/\S+/g), (match) => ({
    word: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }))

/** A simple classifier that knows single words. Its stream keeps the whole text and reads it again at every call. */
export const wordClassifier: SynchronousClassifier = {
  identity: { id: 'words', version: '1', digest: '' },
  holdBackBounds: wordBounds,
  classify: classificationOf,
  classifyWhole(text) {
    const stream = this.startStream('response')
    stream.push(text)
    return stream.end()
  },
  startStream(): SynchronousStream {
    let text = ''
    let isWhole = false
    let pointsBefore = 0
    const complete = () => wordsOf(text).filter(({ end }) => end < text.length)
    const lastWords = (to: number): string =>
      wordsOf(text.slice(0, to))
        .slice(-windowWords)
        .map(({ word }) => word)
        .join(' ')
    const points = (): readonly number[] =>
      complete().flatMap(({ end }, at) => ((at + 1) % pointWords === 0 ? [end] : []))
    const decidedAt = (ends: readonly number[]): Classification | undefined => {
      const all = ends.map((end) => classificationOf(lastWords(end)))
      return all.length === 0 ? undefined : all.reduce(strongest, noClassification)
    }
    return {
      push(more) {
        pointsBefore = points().length
        text += more
        isWhole = false
      },
      peek: () => classificationOf(lastWords(text.length)),
      settledTo() {
        const last = wordsOf(text).at(-1)
        return isWhole || last === undefined || last.end < text.length ? text.length : last.start
      },
      peekAtEnd: () => void (isWhole = true),
      reached: () =>
        points().flatMap((end, at) => {
          const classification = decidedAt(points().slice(0, at + 1))
          return at < pointsBefore || classification === undefined ? [] : [{ end, classification }]
        }),
      decided: () => decidedAt(points()),
      end: () => ({ whole: classificationOf(text), decided: decidedAt(points()) }),
      [Symbol.dispose]: () => undefined,
    }
  },
}
