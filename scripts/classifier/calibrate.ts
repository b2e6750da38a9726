/** Computes thresholds and slopes from texts that the heads were not trained on. */
import { loadKernel } from '../../src/adapters/classifiers/embedded/kernel/load.ts'
import type { Calibration, Composition, ClassifierModel } from '../../src/adapters/classifiers/embedded/model.ts'
import { createTextScorer } from '../../src/adapters/classifiers/embedded/text-scorer.ts'
import { perCategory } from '../../src/domain/scan/classify/categories.ts'
import type { Category, PerCategory } from '../../src/domain/scan/classify/categories.ts'
import { fitLogistic } from './logistic.ts'
import { quantile } from './metrics.ts'
import type { Row } from './rows.ts'

export type CalibrationTexts = {
  /** Real conversation turns, some of them harmful. At most a share of them may be flagged. */
  readonly pool: readonly string[]
  /** Safe prompts that sound unsafe. */
  readonly scary: readonly string[]
  /** Harmless texts from held-out templates: requests, code and logs, answers, and texts that resemble harmful ones. */
  readonly ordinary: readonly string[]
  readonly technical: readonly string[]
  readonly answers: readonly string[]
  readonly hard: readonly string[]
  /** Labelled rows that were held out. */
  readonly labelled: readonly Row[]
}

/** The maximum share of each kind of text that a category may flag. Categories that are always blocked have the lowest shares. */
const poolShare: Omit<PerCategory<number>, 'sexual/minors'> = {
  'self-harm': 0.006,
  harassment: 0.012,
  hate: 0.018,
  illicit: 0.035,
  sexual: 0.013,
}
const ordinaryShare = 0.001
const answerShare = 0.002
const hardShare = 0.015
const scaryShare = 0.014

/**
 * Beside evidence of age, even weak sexual evidence is enough. Far from it, the text must be about as sexual as one that is flagged
 * as such. Chosen on the dev half and on clinical wordings; the model card shows the cost.
 */
export const composition: Composition = { besideCue: -4, farFromCue: -1, abuse: -0.5 }

export function calibrate(model: ClassifierModel, texts: CalibrationTexts): Readonly<Record<Category, Calibration>> {
  const scoreText = createTextScorer(loadKernel(model))
  const scored = (list: readonly string[]): readonly PerCategory<number>[] => list.map(scoreText)
  const [pool, scary, ordinary] = [scored(texts.pool), scored(texts.scary), scored(texts.ordinary)]
  const [technical, answers, hard] = [scored(texts.technical), scored(texts.answers), scored(texts.hard)]
  const labelled = scored(texts.labelled.map(({ text }) => text))

  return perCategory((category) => {
    // Composed of scores that already have thresholds.
    if (category === 'sexual/minors') return { slope: 1, thresholds: { request: 0, response: 0 } }
    const under = (scores: readonly PerCategory<number>[], share: number): number =>
      quantile(
        scores.map((score) => score[category]),
        1 - share,
      )
    const request = Math.max(
      under(pool, poolShare[category]),
      under(scary, scaryShare),
      under(ordinary, ordinaryShare),
      under(technical, ordinaryShare),
      under(hard, hardShare),
    )
    const response = Math.max(request, under(answers, answerShare))
    const slope = slopeOf(
      labelled.map((score) => score[category]),
      texts.labelled.map(({ labels }) => labels[category]),
    )
    return { slope, thresholds: { request: rounded(request), response: rounded(response) } }
  })
}

/** The slope of Platt scaling, with the same total weight for both labels. 1 if there are too few examples. */
export function slopeOf(scores: readonly number[], labels: readonly (number | undefined)[]): number {
  const known = scores.flatMap((score, index) => (labels[index] === undefined ? [] : [{ score, label: labels[index] }]))
  const positives = known.filter(({ label }) => label === 1).length
  if (positives < 10) return 1
  const size = known.length
  const solution = fitLogistic(
    {
      matrix: {
        rows: size,
        columns: 1,
        starts: Uint32Array.from({ length: size + 1 }, (_, row) => row),
        at: new Uint32Array(size),
        values: Float32Array.from(known, ({ score }) => score),
      },
      rows: Uint32Array.from({ length: size }, (_, row) => row),
      labels: Float64Array.from(known, ({ label }) => label),
      weights: Float64Array.from(
        known,
        ({ label }) => (label === 1 ? size / positives : size / (size - positives)) / 2,
      ),
      allowed: Uint8Array.of(1),
      penalty: 1e-3,
    },
    60,
  )
  return rounded(solution[0] ?? 1)
}

const rounded = (value: number): number => Math.round(value * 1e4) / 1e4
