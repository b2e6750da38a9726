/** Logistic regression with an L2 penalty, fitted by L-BFGS. Deterministic: the same data give the same weights. */
import type { Matrix } from './matrix.ts'

export type Examples = {
  readonly matrix: Matrix
  /** Rows to learn from. */
  readonly rows: Uint32Array
  /** The label of each row of the matrix, from 0 to 1, and its weight. */
  readonly labels: Float64Array
  readonly weights: Float64Array
  /** For each column, 0 if it must not be used. */
  readonly allowed: Uint8Array
  /** Strength of the L2 penalty on weights. */
  readonly penalty: number
}

/** The weight of each column, and the bias as the last value. */
export type Solution = Float64Array

/** The number of past steps that L-BFGS uses. */
const maxSteps = 6

export function fitLogistic(examples: Examples, iterations: number): Solution {
  const size = examples.matrix.columns + 1
  let weights = new Float64Array(size)
  let gradient = new Float64Array(size)
  let loss = lossAt(examples, weights, gradient)
  const steps: { moved: Float64Array; turned: Float64Array; scale: number }[] = []

  for (let iteration = 0; iteration < iterations; iteration++) {
    const direction = descend(gradient, steps)
    const slope = dot(gradient, direction)
    let stride = 1
    let nextWeights = weights
    let nextGradient = gradient
    let nextLoss = loss
    for (let attempt = 0; attempt < 20; attempt++, stride /= 2) {
      nextWeights = weights.map((weight, at) => weight - stride * (direction[at] ?? 0))
      nextGradient = new Float64Array(size)
      nextLoss = lossAt(examples, nextWeights, nextGradient)
      if (nextLoss <= loss - 1e-4 * stride * slope) break
    }
    addStep(steps, subtract(nextWeights, weights), subtract(nextGradient, gradient))
    const gain = loss - nextLoss
    weights = nextWeights
    gradient = nextGradient
    loss = nextLoss
    if (gain < 1e-5 * Math.abs(loss)) break
  }
  return weights
}

/** The score of one row. */
function scoreRow({ starts, at, values, columns }: Matrix, weights: Solution, row: number): number {
  let score = weights[columns] ?? 0
  for (let next = starts[row] ?? 0; next < (starts[row + 1] ?? 0); next++)
    score += (weights[at[next] ?? 0] ?? 0) * (values[next] ?? 0)
  return score
}

/** Returns the loss and writes its gradient to `gradient`. */
function lossAt(examples: Examples, weights: Float64Array, gradient: Float64Array): number {
  const { matrix, rows, labels, allowed, penalty } = examples
  const { starts, at, values, columns } = matrix
  let loss = 0
  for (const row of rows) {
    const score = scoreRow(matrix, weights, row)
    const label = labels[row] ?? 0
    const weight = examples.weights[row] ?? 1
    loss += weight * (Math.log1p(Math.exp(-Math.abs(score))) + Math.max(score, 0) - label * score)
    const error = weight * (1 / (1 + Math.exp(-score)) - label)
    for (let next = starts[row] ?? 0; next < (starts[row + 1] ?? 0); next++) {
      const column = at[next] ?? 0
      gradient[column] = (gradient[column] ?? 0) + error * (values[next] ?? 0)
    }
    gradient[columns] = (gradient[columns] ?? 0) + error
  }
  for (let column = 0; column < columns; column++) {
    const weight = weights[column] ?? 0
    loss += (penalty / 2) * weight * weight
    gradient[column] = allowed[column] === 0 ? 0 : (gradient[column] ?? 0) + penalty * weight
  }
  return loss
}

type Step = { readonly moved: Float64Array; readonly turned: Float64Array; readonly scale: number }

/** The two-loop recursion of L-BFGS: the gradient, corrected by the curvature of the last steps. */
function descend(gradient: Float64Array, steps: readonly Step[]): Float64Array {
  const direction = gradient.slice()
  const shares: number[] = []
  for (const step of steps.toReversed()) {
    const share = step.scale * dot(step.moved, direction)
    shares.unshift(share)
    addTo(direction, step.turned, -share)
  }
  const last = steps.at(-1)
  const size =
    last === undefined
      ? 1 / Math.max(1, Math.sqrt(dot(gradient, gradient)))
      : 1 / (last.scale * dot(last.turned, last.turned))
  for (let at = 0; at < direction.length; at++) direction[at] = (direction[at] ?? 0) * size
  for (const [index, step] of steps.entries()) {
    const back = step.scale * dot(step.turned, direction)
    addTo(direction, step.moved, (shares[index] ?? 0) - back)
  }
  return direction
}

function addStep(steps: Step[], moved: Float64Array, turned: Float64Array): void {
  const product = dot(moved, turned)
  if (product <= 1e-10) return
  steps.push({ moved, turned, scale: 1 / product })
  if (steps.length > maxSteps) steps.shift()
}

function dot(first: Float64Array, second: Float64Array): number {
  let sum = 0
  for (let at = 0; at < first.length; at++) sum += (first[at] ?? 0) * (second[at] ?? 0)
  return sum
}

function addTo(target: Float64Array, addend: Float64Array, factor: number): void {
  for (let at = 0; at < target.length; at++) target[at] = (target[at] ?? 0) + (addend[at] ?? 0) * factor
}

const subtract = (first: Float64Array, second: Float64Array): Float64Array =>
  first.map((value, at) => value - (second[at] ?? 0))
