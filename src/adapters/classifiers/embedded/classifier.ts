import { readFileSync } from 'node:fs'
import { categories, perCategory } from '../../../domain/moderation/categories.ts'
import type { Category, PerCategory } from '../../../domain/moderation/categories.ts'
import { flagThreshold } from '../../../domain/moderation/classifier.ts'
import type { Classification, Classifier, TextDirection } from '../../../domain/moderation/classifier.ts'
import type { Span } from '../../../domain/moderation/normalise.ts'
import { decodeModel } from './model-file.ts'
import type { ClassifierModel } from './model.ts'
import { createRawScorer } from './scoring.ts'

/** The classifier that needs no network: linear heads over hashed n-grams, word lists, and one composed category. */
export type EmbeddedClassifier = Omit<Classifier, 'classify' | 'startRanges'> & {
  classify(text: string, direction: TextDirection): Classification
  startRanges(direction: TextDirection): (text: string, stretch: Span) => Classification
}

/** The model that is bundled with the program. */
export const shippedModel = new URL('./model.bin', import.meta.url)

export const loadModel = (file: URL | string = shippedModel): ClassifierModel => decodeModel(readFileSync(file))

export function createEmbeddedClassifier(model: ClassifierModel = loadModel()): EmbeddedClassifier {
  const scorer = createRawScorer(model)
  const scales = { request: scalesFor(model, 'request'), response: scalesFor(model, 'response') }
  const judged = (raw: PerCategory<number>, direction: TextDirection): Classification => {
    const scores = calibrate(raw, scales[direction])
    return { scores, flagged: flaggedIn(scores) }
  }
  return {
    identity: { id: 'embedded', version: model.header.version, digest: model.digest },
    classify: (text, direction) => judged(scorer.score(text), direction),
    startRanges(direction) {
      const score = scorer.startStream()
      return (text, stretch) => judged(score(text, stretch), direction)
    },
  }
}

type Scale = { readonly slope: number; readonly threshold: number }

const scalesFor = ({ header }: ClassifierModel, direction: TextDirection): PerCategory<Scale> =>
  perCategory((category) => {
    const { slope, thresholds } = header.calibration[category]
    return { slope, threshold: thresholds[direction] }
  })

/** Written out per category, because that is much faster than iterating over the names. */
const calibrate = (raw: PerCategory<number>, scales: PerCategory<Scale>): PerCategory<number> => ({
  'self-harm': scoreOf(raw['self-harm'], scales['self-harm']),
  'sexual/minors': scoreOf(raw['sexual/minors'], scales['sexual/minors']),
  harassment: scoreOf(raw.harassment, scales.harassment),
  hate: scoreOf(raw.hate, scales.hate),
  illicit: scoreOf(raw.illicit, scales.illicit),
  sexual: scoreOf(raw.sexual, scales.sexual),
})

/** 0.5 at the threshold of the direction, whatever the raw scale of the category. */
const scoreOf = (raw: number, { slope, threshold }: Scale): number => 1 / (1 + Math.exp(-slope * (raw - threshold)))

const flaggedIn = (scores: PerCategory<number>): readonly Category[] =>
  categories.filter((category) => scores[category] >= flagThreshold)
