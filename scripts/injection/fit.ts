/**
 * Fits the weights. Only one window of a text need hold the injection, so after each round the window that scores highest stands
 * for its text: of an injection the one that gives it away, of a harmless text the most suspicious one.
 */
import type { InjectionModel } from '../../src/adapters/injection/model-file.ts'
import { buckets } from '../../src/adapters/injection/read-text.ts'
import { fitLogistic, type Solution } from '../classifier/logistic.ts'
import type { Matrix } from '../classifier/matrix.ts'
import type { Example } from './examples.ts'
import { columnCount, logitOf, type Window } from './windows.ts'

const penalty = 1
const iterations = 60
const rounds = 3

export function fit(examples: readonly Example[], times = rounds): Solution {
  let weights: Solution | undefined
  for (let round = 0; round < times; round++) {
    const known = weights
    const windows = examples.map((example) => (known === undefined ? longest(example) : strongest(example, known)))
    weights = fitLogistic(
      {
        matrix: matrixOf(windows),
        rows: Uint32Array.from(examples.keys()),
        labels: Float64Array.from(examples, ({ isInjection }) => (isInjection ? 1 : 0)),
        weights: Float64Array.from(examples, ({ weight }) => weight),
        allowed: new Uint8Array(columnCount).fill(1),
        penalty,
      },
      iterations,
    )
  }
  return weights ?? new Float64Array(columnCount + 1)
}

const none: Window = { columns: [], values: [] }

const longest = ({ windows }: Example): Window =>
  windows.reduce((best, window) => (window.columns.length > best.columns.length ? window : best), none)

function strongest({ windows }: Example, weights: Solution): Window {
  let best = none
  let highest = -Infinity
  for (const window of windows) {
    const logit = logitOf(window, weights)
    if (logit <= highest) continue
    highest = logit
    best = window
  }
  return best
}

function matrixOf(windows: readonly Window[]): Matrix {
  const size = windows.reduce((sum, { columns }) => sum + columns.length, 0)
  const starts = new Uint32Array(windows.length + 1)
  const at = new Uint32Array(size)
  const values = new Float32Array(size)
  let next = 0
  for (const [row, window] of windows.entries()) {
    at.set(window.columns, next)
    values.set(window.values, next)
    next += window.columns.length
    starts[row + 1] = next
  }
  return { rows: windows.length, columns: columnCount, starts, at, values }
}

/** Rounds the weights of word features to bytes. */
export function modelOf(solution: Solution): Omit<InjectionModel, 'digest'> {
  const features = solution.subarray(0, buckets)
  const largest = features.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0)
  const unit = largest / 127
  return {
    bias: solution[columnCount] ?? 0,
    unit,
    weights: Int8Array.from(features, (weight) => Math.round(weight / unit)),
    pairs: Float32Array.from(solution.subarray(buckets, columnCount)),
  }
}
