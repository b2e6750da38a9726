/** Fits all heads, selects the features with the largest weights, fits again on those, and rounds the weights to bytes. */
import { heads } from '../../src/adapters/classifiers/embedded/model.ts'
import type { ClassifierHead, HeadHeader } from '../../src/adapters/classifiers/embedded/model.ts'
import { damp } from '../../src/adapters/classifiers/embedded/damp.ts'
import { headPlans, labelOf, listPairs } from './heads.ts'
import { fitLogistic } from './logistic.ts'
import type { Solution } from './logistic.ts'
import { buildMatrix, chooseFeatures } from './matrix.ts'
import type { Matrix, Reading } from './matrix.ts'
import type { Row } from './rows.ts'

export type FitSettings = {
  readonly penalty: number
  readonly iterations: number
  readonly fewestTexts: number
  readonly features: number
}

export type Fitted = {
  readonly features: Uint32Array
  readonly weights: Int8Array
  readonly heads: Readonly<Record<ClassifierHead, HeadHeader>>
}

export type ReadRow = { readonly row: Row; readonly reading: Reading }

export function fitHeads(rows: readonly ReadRow[], lists: readonly string[], settings: FitSettings): Fitted {
  const readings = rows.map(({ reading }) => reading)
  const candidates = chooseFeatures(readings, settings.fewestTexts)
  // Half of the iterations are enough to select the features.
  const halfway = { ...settings, iterations: settings.iterations >> 1 }
  const first = fitAll(buildMatrix(readings, candidates), rows, { lists, settings: halfway })
  const features = largestWeights(candidates, first, settings.features)
  const matrix = buildMatrix(readings, features)
  const solutions = fitAll(matrix, rows, { lists, settings })
  return { features, ...quantise(solutions, features.length, lists) }
}

/** The raw score of a text with nothing but one word of a sufficient list, and what a word of a harmless list takes from it. */
const sufficientScore = 2
const harmlessScore = -8

type Plan = { readonly lists: readonly string[]; readonly settings: FitSettings }

function fitAll(matrix: Matrix, rows: readonly ReadRow[], plan: Plan): Readonly<Record<ClassifierHead, Solution>> {
  return perHead((head) => fitOne({ matrix, rows, ...plan }, head))
}

type Problem = Plan & { readonly matrix: Matrix; readonly rows: readonly ReadRow[] }

function fitOne({ matrix, rows, lists, settings }: Problem, head: ClassifierHead): Solution {
  const label = labelOf(head)
  const known = rows.flatMap(({ row }, index) => (row.labels[label] === undefined ? [] : [index]))
  const learnt = matrix.columns - lists.length - listPairs.length
  const mayUse = (list: string): boolean => headPlans[head].lists.includes(list)
  const allowed = new Uint8Array(matrix.columns).fill(1, 0, learnt)
  for (const [index, list] of lists.entries()) allowed[learnt + index] = mayUse(list) ? 1 : 0
  for (const [index, pair] of listPairs.entries()) allowed[learnt + lists.length + index] = pair.every(mayUse) ? 1 : 0
  const examples = {
    matrix,
    rows: Uint32Array.from(known),
    labels: Float64Array.from(rows, ({ row }) => row.labels[label] ?? 0),
    weights: Float64Array.from(rows, ({ row }) => row.weight),
    allowed,
    penalty: settings.penalty,
  }
  return fitLogistic(examples, settings.iterations)
}

/** The features with the largest weight in any head. */
function largestWeights(
  features: Uint32Array,
  solutions: Readonly<Record<ClassifierHead, Solution>>,
  most: number,
): Uint32Array {
  const weightOf = (column: number): number => Math.max(...heads.map((head) => Math.abs(solutions[head][column] ?? 0)))
  const ranked = Array.from(features, (hash, column) => ({ hash, weight: weightOf(column) }))
  ranked.sort((first, second) => second.weight - first.weight || first.hash - second.hash)
  return Uint32Array.from(ranked.slice(0, most), ({ hash }) => hash).sort()
}

function quantise(
  solutions: Readonly<Record<ClassifierHead, Solution>>,
  learnt: number,
  names: readonly string[],
): Pick<Fitted, 'weights' | 'heads'> {
  const weights = new Int8Array(learnt * heads.length)
  const round = (head: ClassifierHead): HeadHeader => {
    const solution = solutions[head]
    const largest = solution.slice(0, learnt).reduce((most, weight) => Math.max(most, Math.abs(weight)), 0)
    const scale = largest === 0 ? 1 : largest / 127
    for (let column = 0; column < learnt; column++) {
      weights[column * heads.length + heads.indexOf(head)] = Math.round((solution[column] ?? 0) / scale)
    }
    const bias = solution.at(-1) ?? 0
    const { window, evidence } = headPlans[head]
    const lists = Array.from(solution.slice(learnt, -1), (weight, index) =>
      rounded(boundedWeight({ head, list: names[index] ?? '', weight, bias })),
    )
    return {
      bias: rounded(bias),
      scale,
      lists,
      window,
      evidence: evidence.map((group) => group.map((list) => names.indexOf(list))),
    }
  }
  return { weights, heads: perHead(round) }
}

type ListWeight = {
  readonly head: ClassifierHead
  readonly list: string
  readonly weight: number
  readonly bias: number
}

function boundedWeight({ head, list, weight, bias }: ListWeight): number {
  const { sufficient = [], harmless = [] } = headPlans[head]
  if (sufficient.includes(list)) return Math.max(weight, (sufficientScore - bias) / damp(1))
  return harmless.includes(list) ? Math.min(weight, harmlessScore / damp(1)) : weight
}

function perHead<Value>(make: (head: ClassifierHead) => Value): Readonly<Record<ClassifierHead, Value>> {
  return {
    sexual: make('sexual'),
    hate: make('hate'),
    harassment: make('harassment'),
    'self-harm': make('self-harm'),
    illicit: make('illicit'),
    abuse: make('abuse'),
  }
}

const rounded = (value: number): number => Math.round(value * 1e5) / 1e5
