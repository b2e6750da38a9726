/** Thresholds and slopes, from texts that the fitted heads have not seen. */
import type { Calibration, Composition, ClassifierModel } from '../../src/adapters/classifiers/embedded/model.ts'
import { createRawScorer } from '../../src/adapters/classifiers/embedded/scoring.ts'
import { perCategory } from '../../src/domain/moderation/categories.ts'
import type { Category, PerCategory } from '../../src/domain/moderation/categories.ts'
import { fitLogistic } from './logistic.ts'
import { quantile } from './metrics.ts'
import type { Row } from './rows.ts'

export type CalibrationTexts = {
  /** Real turns of conversations, some of them harmful: at most a share of them may be flagged. */
  readonly pool: readonly string[]
  /** Safe prompts that sound unsafe. */
  readonly scary: readonly string[]
  /** Harmless texts by templates that were held out: requests, code and logs, answers, and those made to look harmful. */
  readonly ordinary: readonly string[]
  readonly technical: readonly string[]
  readonly answers: readonly string[]
  readonly hard: readonly string[]
  /** Labelled rows that were held out. */
  readonly labelled: readonly Row[]
}

/** The most of each kind of text that a category may flag. The two that cannot be switched off are held to the least. */
const poolShare: Omit<PerCategory<number>, 'sexual/minors'> = {
  'self-harm': 0.006,
  harassment: 0.012,
  hate: 0.018,
  illicit: 0.024,
  sexual: 0.013,
}
const ordinaryShare = 0.001
const answerShare = 0.002
const hardShare = 0.015
const scaryShare = 0.014

/** Beside a cue of age, sexual evidence this weak is enough. Chosen for recall; the model card says what it costs. */
export const composition: Composition = { besideCue: -4, abuse: -0.5 }

export function calibrate(model: ClassifierModel, texts: CalibrationTexts): Readonly<Record<Category, Calibration>> {
  const scorer = createRawScorer(model)
  const scored = (list: readonly string[]): readonly PerCategory<number>[] => list.map((text) => scorer.score(text))
  const [pool, scary, ordinary] = [scored(texts.pool), scored(texts.scary), scored(texts.ordinary)]
  const [technical, answers, hard] = [scored(texts.technical), scored(texts.answers), scored(texts.hard)]
  const labelled = scored(texts.labelled.map(({ text }) => text))

  return perCategory((category) => {
    // Composed of thresholds already.
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

/** Platt's slope, with both labels given the same weight. One, where there is nothing to learn it from. */
function slopeOf(scores: readonly number[], labels: readonly (number | undefined)[]): number {
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
