/** The bundled detector of prompt injections: a logistic model of hashed word features, which scores a text window by window. */
import { readFileSync } from 'node:fs'
import type { InjectionDetector } from '../../domain/scan/injection/injection-detector.ts'
import { normalise } from '../../domain/scan/normalise/normalise.ts'
import { decodeModel, type InjectionModel } from './model-file.ts'
import { readText, type ReadSentence } from './read-text.ts'
import { classScale, featureScale, mostSentences, windowLength } from './windows.ts'
import { wordClasses } from './word-classes.ts'

export const shippedModel = new URL('./model.bin', import.meta.url)

export function createInjectionDetector(
  model: InjectionModel = decodeModel(readFileSync(shippedModel)),
): InjectionDetector {
  return {
    identity: `injection-linear:${model.digest}`,
    score: (text) => probability(highestLogit(model, normalise(text))),
  }
}

const probability = (logit: number): number => 1 / (1 + Math.exp(-logit))

/** The highest score of a window; the text is in normal form. */
export function highestLogit(model: InjectionModel, text: string): number {
  const reading = new Reading(model)
  readText(text, (sentence) => reading.add(sentence))
  return reading.highest
}

/** Reads a text and keeps the highest score of its windows. The last sentences stay in slots that are used again. */
class Reading {
  readonly model: InjectionModel
  readonly weights: Int8Array
  readonly sums = new Int32Array(mostSentences)
  readonly words = new Int32Array(mostSentences)
  readonly classes = new Int32Array(mostSentences)
  highest = -Infinity

  constructor(model: InjectionModel) {
    this.model = model
    this.weights = model.weights
  }

  add({ features, count, words, classes }: ReadSentence): void {
    const { weights } = this
    let sum = 0
    for (let at = 0; at < count; at++) sum += weights[features[at] ?? 0] ?? 0
    this.push(this.sums, sum)
    this.push(this.words, words)
    this.push(this.classes, classes)
    this.scoreWindows()
  }

  /** Adds the value of the newest sentence in front, and drops the oldest. */
  push(slots: Int32Array, value: number): void {
    for (let at = mostSentences - 1; at > 0; at--) slots[at] = slots[at - 1] ?? 0
    slots[0] = value
  }

  scoreWindows(): void {
    const { model } = this
    const sentences = windowLength(this.words)
    let words = 0
    let classes = 0
    let sum = 0
    let weight = 0
    for (let at = 0; at < sentences; at++) {
      const added = this.classes[at] ?? 0
      const isNew = (classes | added) !== classes
      words += this.words[at] ?? 0
      classes |= added
      sum += this.sums[at] ?? 0
      if (isNew) weight = classWeight(model, classes)
      const logit = model.bias + sum * model.unit * featureScale(words) + classScale * weight
      if (logit > this.highest) this.highest = logit
    }
  }
}

/** The weights of all classes of a window and of their pairs. */
function classWeight({ pairs }: InjectionModel, classes: number): number {
  let sum = 0
  for (let first = classes; first !== 0; first &= first - 1) {
    const row = indexOfBit(first) * wordClasses.length
    for (let second = first; second !== 0; second &= second - 1) sum += pairs[row + indexOfBit(second)] ?? 0
  }
  return sum
}

/** The position of the lowest bit that is set. */
const indexOfBit = (bits: number): number => 31 - Math.clz32(bits & -bits)
