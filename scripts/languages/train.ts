/**
 * Trains the model for languages other than English. The same data and the same code give the same model, byte for byte. Each fifth
 * of the rows is scored by a model that was trained on the others.
 */
import {
  bitsOfWords,
  languageHeads,
  slots,
  type LanguageHead,
  type LanguageHeadHeader,
  type LanguageModel,
} from '../../src/adapters/classifiers/embedded/languages/language-model.ts'
import { rootOf } from '../../src/adapters/classifiers/embedded/languages/language-scorer.ts'
import { fitLogistic, type Solution } from '../classifier/logistic.ts'
import type { Matrix } from '../classifier/matrix.ts'
import { digestOfSources, folds, type LanguageRow } from './rows.ts'

const settings = { penalty: 0.3, iterations: 80 }

const labelOf: Readonly<Record<LanguageHead, keyof LanguageRow['labels']>> = {
  'self-harm': 'self-harm',
  minors: 'sexual/minors',
  sexual: 'sexual',
}

/** The scores of each row by a model that was trained without its fold. */
export function crossValidate(rows: readonly LanguageRow[]): Readonly<Record<LanguageHead, Float64Array>> {
  const matrix = buildMatrix(rows)
  const all = perHead(() => new Float64Array(rows.length))
  for (let fold = 0; fold < folds; fold++) {
    const kept = rows.flatMap((row, at) => (row.fold === fold ? [] : [at]))
    for (const head of languageHeads) {
      const solution = fit(matrix, rows, { kept, head })
      for (const [at, row] of rows.entries()) if (row.fold === fold) all[head][at] = scoreOf(matrix, solution, at)
    }
  }
  return all
}

export function trainModel(
  rows: readonly LanguageRow[],
  calibration: Readonly<Record<LanguageHead, Pick<LanguageHeadHeader, 'slope' | 'threshold'>>>,
): Omit<LanguageModel, 'digest'> {
  const matrix = buildMatrix(rows)
  const weights = new Int8Array(slots * languageHeads.length)
  const kept = rows.map((_, at) => at)
  const heads = perHead((head) => {
    const solution = fit(matrix, rows, { kept, head })
    const largest = solution.slice(0, slots).reduce((most, weight) => Math.max(most, Math.abs(weight)), 0)
    const scale = largest / 127
    for (let slot = 0; slot < slots; slot++)
      weights[slot * languageHeads.length + languageHeads.indexOf(head)] = Math.round((solution[slot] ?? 0) / scale)
    return { bias: solution.at(-1) ?? 0, scale, ...calibration[head] }
  })
  return { sources: digestOfSources(), heads, weights, seen: bitsOfWords(wordsOf(rows)) }
}

/** The words of texts that were written for the model. Public ones have names, and English is not its language. */
const wordsOf = (rows: readonly LanguageRow[]): Iterable<number> =>
  new Set(rows.filter(({ isOwn }) => isOwn).flatMap(({ features }) => features.tokens))

type FitOf = { readonly kept: readonly number[]; readonly head: LanguageHead }

function fit(matrix: Matrix, rows: readonly LanguageRow[], { kept, head }: FitOf): Solution {
  const label = labelOf[head]
  const examples = {
    matrix,
    rows: Uint32Array.from(kept.filter((at) => rows[at]?.labels[label] !== undefined)),
    labels: Float64Array.from(rows, ({ labels }) => labels[label] ?? 0),
    weights: Float64Array.from(rows, ({ weight }) => weight),
    allowed: new Uint8Array(matrix.columns).fill(1),
    penalty: settings.penalty,
  }
  return fitLogistic(examples, settings.iterations)
}

function buildMatrix(rows: readonly LanguageRow[]): Matrix {
  const capacity = rows.reduce((sum, { features }) => sum + features.words.length + features.grams.length, 0)
  const starts = new Uint32Array(rows.length + 1)
  const at = new Uint32Array(capacity)
  const values = new Float32Array(capacity)
  let next = 0
  for (const [index, { features }] of rows.entries()) {
    for (const found of [features.words, features.grams]) {
      at.set(found, next)
      values.fill(1 / rootOf(found.length), next, next + found.length)
      next += found.length
    }
    starts[index + 1] = next
  }
  return { rows: rows.length, columns: slots, starts, at, values }
}

function scoreOf({ starts, at, values }: Matrix, solution: Solution, row: number): number {
  let score = solution.at(-1) ?? 0
  for (let next = starts[row] ?? 0; next < (starts[row + 1] ?? 0); next++)
    score += (solution[at[next] ?? 0] ?? 0) * (values[next] ?? 0)
  return score
}

const perHead = <Value>(make: (head: LanguageHead) => Value): Record<LanguageHead, Value> => ({
  'self-harm': make('self-harm'),
  minors: make('minors'),
  sexual: make('sexual'),
})
