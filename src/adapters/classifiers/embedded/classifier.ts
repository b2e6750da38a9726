import { readFileSync } from 'node:fs'
import { categories, perCategory } from '../../../domain/scan/classify/categories.ts'
import type { Category, PerCategory } from '../../../domain/scan/classify/categories.ts'
import { flagThreshold } from '../../../domain/scan/classify/classifier.ts'
import type {
  Classification,
  HoldBackBounds,
  SynchronousClassifier,
  SynchronousStream,
  TextDirection,
} from '../../../domain/scan/classify/classifier.ts'
import { withPassages } from '../../../domain/scan/classify/passages.ts'
import { loadKernel } from './kernel/load.ts'
import { decodeLanguageModel, type LanguageModel } from './languages/language-model.ts'
import { createLanguageScorer } from './languages/language-scorer.ts'
import { decodeModel } from './model-file.ts'
import type { ClassifierModel } from './model.ts'
import { createReadings } from './readings.ts'
import { createTextScorer, type RawScores } from './text-scorer.ts'
import { createTextStreams, type ScoreStream } from './text-streams.ts'

/** The classifier that needs no network: linear heads over hashed n-grams, word lists, and one composed category. */
export type EmbeddedClassifier = SynchronousClassifier & { readonly holdBackBounds: HoldBackBounds }

/** The model that is bundled with the program. */
export const shippedModel = new URL('./model.bin', import.meta.url)

export const loadModel = (file: URL | string = shippedModel): ClassifierModel => decodeModel(readFileSync(file))

/** The model for languages other than English. */
export const shippedLanguageModel = new URL('./languages/model.bin', import.meta.url)

export const loadLanguageModel = (): LanguageModel => decodeLanguageModel(readFileSync(shippedLanguageModel))

export function createEmbeddedClassifier(
  model: ClassifierModel = loadModel(),
  languages: LanguageModel = loadLanguageModel(),
): EmbeddedClassifier {
  const kernel = loadKernel(model)
  const score = createTextScorer(kernel)
  const streams = createTextStreams({ kernel, score })
  const scales = { request: scalesFor(model, 'request'), response: scalesFor(model, 'response') }
  const judged = (raw: RawScores, direction: TextDirection): Classification => {
    const scores = calibrate(raw, scales[direction])
    return { scores, flagged: flaggedIn(scores) }
  }
  const findReadings = createReadings(kernel.vocabulary)
  const scoreLanguages = createLanguageScorer(languages)
  const classifier = {
    identity: { id: 'embedded', version: model.header.version, digest: `${model.digest}+${languages.digest}` },
    holdBackBounds: model.header.holdBack,
    classify: (text, direction) => judged(score(text), direction),
    startStream: (direction) => judgeStream(streams.start(), (raw) => judged(raw, direction)),
    classifyWhole(text, direction) {
      const { whole, decided } = streams.scoreWhole(text)
      return { whole: judged(whole, direction), decided: decided && judged(decided, direction) }
    },
  } satisfies EmbeddedClassifier
  return withPassages(classifier, { findReadings, scoreLanguages })
}

function judgeStream(stream: ScoreStream, judge: (raw: RawScores) => Classification): SynchronousStream {
  const judgePeek = cacheLast(judge)
  const judgeDecided = cacheLast(judge)
  const decided = (): Classification | undefined => {
    const raw = stream.decided()
    return raw === undefined ? undefined : judgeDecided(raw)
  }
  return {
    push: stream.push,
    peek: () => judgePeek(stream.peek()),
    settledTo: stream.settledTo,
    peekAtEnd: stream.peekAtEnd,
    decided,
    reached: () => stream.reached().map(({ end, scores }) => ({ end, classification: judge(scores) })),
    end() {
      stream.end()
      return {
        decided: decided(),
        // A long text is read again for it, and then its slices are classified instead.
        get whole() {
          return judge(stream.whole())
        },
      }
    },
    [Symbol.dispose]: stream.dispose,
  }
}

/** Keeps the last result: between two words a stream gives the same scores. */
function cacheLast(judge: (raw: RawScores) => Classification): (raw: RawScores) => Classification {
  let last: { readonly raw: RawScores; readonly classification: Classification } | undefined
  return (raw) => {
    if (last?.raw !== raw) last = { raw, classification: judge(raw) }
    return last.classification
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
  Math.max(
    scores['self-harm'],
    scores['sexual/minors'],
    scores.harassment,
    scores.hate,
    scores.illicit,
    scores.sexual,
  ) < flagThreshold
    ? none
    : categories.filter((category) => scores[category] >= flagThreshold)

const none: readonly Category[] = []
