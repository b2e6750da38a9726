/** The windows of a text as rows for the trainer: the columns are the features, and after them the pairs of classes. */
import { buckets, readText } from '../../src/adapters/injection/read-text.ts'
import { classScale, featureScale, mostSentences, windowLength } from '../../src/adapters/injection/windows.ts'
import { wordClasses } from '../../src/adapters/injection/word-classes.ts'
import { normalise } from '../../src/domain/scan/normalise/normalise.ts'

export type Window = { readonly columns: readonly number[]; readonly values: readonly number[] }

const classCount = wordClasses.length
export const columnCount = buckets + classCount ** 2

type SentenceCopy = { readonly features: Int32Array; readonly words: number; readonly classes: number }

export function windowsOf(text: string): readonly Window[] {
  const sentences: SentenceCopy[] = []
  const windows: Window[] = []
  readText(normalise(text), ({ features, count, words, classes }) => {
    sentences.push({ features: features.slice(0, count), words, classes })
    const longest = windowLength(
      sentences
        .slice(-mostSentences)
        .reverse()
        .map((sentence) => sentence.words),
    )
    for (let length = 1; length <= longest; length++) windows.push(windowOf(sentences.slice(-length)))
  })
  return windows
}

function windowOf(sentences: readonly SentenceCopy[]): Window {
  const counts = new Map<number, number>()
  for (const { features } of sentences)
    for (const feature of features) counts.set(feature, (counts.get(feature) ?? 0) + 1)
  const scale = featureScale(sentences.reduce((sum, { words }) => sum + words, 0))
  const pairs = pairColumns(sentences.reduce((all, { classes }) => all | classes, 0))
  return {
    columns: [...counts.keys(), ...pairs],
    values: [...Array.from(counts.values(), (count) => count * scale), ...pairs.map(() => classScale)],
  }
}

function pairColumns(classes: number): readonly number[] {
  const present = wordClasses.flatMap((_, at) => (((classes >> at) & 1) === 1 ? at : []))
  return present.flatMap((first, at) => present.slice(at).map((second) => buckets + first * classCount + second))
}

/** The score of a window by weights per column, the bias last. */
export function logitOf({ columns, values }: Window, weights: Float64Array): number {
  let sum = weights[columnCount] ?? 0
  for (let at = 0; at < columns.length; at++) sum += (weights[columns[at] ?? 0] ?? 0) * (values[at] ?? 0)
  return sum
}

export const highestLogit = (windows: readonly Window[], weights: Float64Array): number =>
  windows.reduce((highest, window) => Math.max(highest, logitOf(window, weights)), -Infinity)
