/** Measures a model through the same scan that requests use. The result contains numbers only, no text. */
import { createEmbeddedClassifier } from '../../src/adapters/classifiers/embedded/classifier.ts'
import type { ClassifierModel } from '../../src/adapters/classifiers/embedded/model.ts'
import { alwaysBlockedCategories, categories } from '../../src/domain/scan/classify/categories.ts'
import type { Category } from '../../src/domain/scan/classify/categories.ts'
import { flagThreshold } from '../../src/domain/scan/classify/classifier.ts'
import type { TextDirection } from '../../src/domain/scan/classify/classifier.ts'
import { disguises } from './evasion.ts'
import { measureHoldBack, measureHoldBackByRisk, type HoldBackFigures, type HoldBackTexts } from './hold-back.ts'
import {
  averagePrecision,
  averagePrecisionInterval,
  rocArea,
  verdictsAt,
  type Interval,
  type Judged,
} from './metrics.ts'
import { readProbes, runProbes, type ProbeFigures } from './probes.ts'
import type { Data, Row } from './rows.ts'
import { createJudge, type BothStages, type CostFigures, type Judge } from './stages.ts'

export type Metrics = StageFigures & {
  readonly model: {
    readonly version: string
    readonly digest: string
    readonly bytes: number
    readonly features: number
  }
  /** The share of harmless texts blocked, from templates that the first fit did not use. Only a training run can measure it. */
  readonly heldOut: Readonly<Record<string, Shares>>
  /** Missing if the encoder was not installed, or if the linear model was trained since. */
  readonly withEncoder?: EncoderFigures
}

/** The figures of both stages together. */
export type EncoderFigures = StageFigures & {
  readonly encoder: { readonly version: string; readonly digest: string }
  readonly cost: Readonly<Record<string, CostFigures>>
}

/** The figures of one stage: of the linear classifier alone, or of both stages together. */
export type StageFigures = {
  /** The dev half of the evaluation set, at the default thresholds. */
  readonly quality: Readonly<Record<string, QualityFigures>>
  /** Share of texts blocked at the default thresholds, by category; `always` is either of the two, `any` all six. */
  readonly blocked: Readonly<Record<string, Shares>>
  /** What is shown of positives before they are denied, and how late harmless text arrives, by scheme. */
  readonly holdBack: Readonly<Record<string, HoldBackFigures>>
  /** Recall at the default thresholds when the positives are obfuscated. */
  readonly evasion: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly probes: Readonly<Record<string, ProbeFigures>>
}

export type Shares = Readonly<Record<string, number>>

export type QualityFigures = {
  readonly positives: number
  readonly negatives: number
  readonly averagePrecision: number
  /** The bootstrap 95 % interval of the average precision. */
  readonly interval: Interval
  readonly rocArea: number
  readonly recall: number
  readonly precision: number
}

export async function evaluateModel(
  model: ClassifierModel,
  bytes: number,
  data: Data,
): Promise<Omit<Metrics, 'heldOut'>> {
  const holdBack = await measureHoldBack(createEmbeddedClassifier(model), holdBackTexts(data))
  return {
    model: { version: model.header.version, digest: model.digest, bytes, features: model.features.length },
    ...(await figuresOfStage(createJudge(model), data)),
    holdBack,
  }
}

/** The encoder reads half of the turns, so that a part of them must do. */
const turnsForBothStages = 2_000

export async function evaluateBothStages(
  stages: BothStages,
  { pool, ...others }: Data,
  log: (line: string) => void,
): Promise<EncoderFigures> {
  const data: Data = { ...others, pool: pool.slice(0, turnsForBothStages) }
  const probes = readProbes()
  const textsOf = (group: string): readonly string[] => probes.find(({ name }) => name === group)?.texts ?? []
  return {
    encoder: stages.identity,
    ...(await figuresOfStage(stages.judge, data, log)),
    holdBack: await measureHoldBackByRisk(stages.classifier, holdBackTexts(data), stages.untilRead),
    cost: {
      'ordinary instructions (probes)': await stages.measureCost(textsOf('ordinary instructions')),
      'everyday texts (probes)': await stages.measureCost(textsOf('everyday texts')),
      'ten everyday texts at a time (probes)': await stages.measureCost(
        textsOf('everyday texts, ten after one another'),
      ),
      'turns of real conversations': await stages.measureCost(data.pool.slice(0, 500).map(textOf)),
    },
  }
}

async function figuresOfStage(
  judge: Judge,
  data: Data,
  log: (line: string) => void = () => {},
): Promise<Omit<StageFigures, 'holdBack'>> {
  const quality = await qualityOf(judge, data.dev)
  log('quality measured')
  const probes = await runProbes(judge)
  const blocked = await blockedOf(judge, data)
  log('probes and over-blocking measured')
  const evasion = await evasionOf(judge, data.dev)
  log('evasion measured')
  return { quality, blocked, evasion, probes }
}

const holdBackTexts = ({ dev, pool }: Data): HoldBackTexts => ({
  positives: {
    sexual: positivesOf(dev, 'sexual').map(textOf),
    'self-harm': positivesOf(dev, 'self-harm').map(textOf),
    'sexual/minors': positivesOf(dev, 'sexual').map(withAge).map(textOf),
  },
  turns: pool.map(textOf),
})

const positivesOf = (rows: readonly Row[], category: Category): readonly Row[] =>
  rows.filter(({ labels }) => labels[category] === 1)
const textOf = ({ text }: { readonly text: string }): string => text

/** One row per labelled category, and `any`: a text is positive if one of its labels is, and scores as its highest labelled category. */
async function qualityOf(judge: Judge, dev: readonly Row[]): Promise<StageFigures['quality']> {
  const scored = await inTurn(dev, async (row) => ({ row, scores: (await judge(row.text, 'request')).scores }))
  const labelled = categories.filter((category) => positivesOf(dev, category).length > 0)
  const figures: Record<string, QualityFigures> = {}
  for (const category of labelled) {
    figures[category] = figuresOf(
      scored.flatMap(({ row, scores }) => {
        const label = row.labels[category]
        return label === undefined ? [] : [{ score: scores[category], isPositive: label === 1 }]
      }),
    )
  }
  figures['any'] = figuresOf(
    scored.map(({ row, scores }) => ({
      score: Math.max(...labelled.map((category) => scores[category])),
      isPositive: labelled.some((category) => row.labels[category] === 1),
    })),
  )
  return figures
}

function figuresOf(judged: readonly Judged[]): QualityFigures {
  const positives = judged.filter(({ isPositive }) => isPositive).length
  const { recall, precision } = verdictsAt(judged, flagThreshold)
  const { low, high } = averagePrecisionInterval(judged)
  return {
    positives,
    negatives: judged.length - positives,
    averagePrecision: rounded(averagePrecision(judged)),
    interval: { low: rounded(low), high: rounded(high) },
    rocArea: rounded(rocArea(judged)),
    recall: rounded(recall),
    precision: rounded(precision),
  }
}

/** One after the other: the encoder has a bounded queue. */
async function inTurn<Item, Result>(
  items: readonly Item[],
  judge: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await judge(item))
  return results
}

async function blockedOf(judge: Judge, data: Data): Promise<StageFigures['blocked']> {
  const safe = data.overblock.filter(({ safe: isSafe }) => isSafe)
  const unsafe = data.overblock.filter(({ safe: isSafe }) => !isSafe)
  const adult = positivesOf(data.dev, 'sexual')
  const notSexual = data.dev.filter(({ labels }) => labels.sexual === 0)
  return {
    'safe prompts that sound unsafe': await sharesOf(judge, safe, 'request'),
    'unsafe contrasts': await sharesOf(judge, unsafe, 'request'),
    'turns of real conversations, unlabelled': await sharesOf(judge, data.pool, 'request'),
    'the same as answers': await sharesOf(judge, data.pool, 'response'),
    'sexual, adults only (dev)': await sharesOf(judge, adult, 'request'),
    'the same with a word of age here and there': await sharesOf(judge, adult.map(withAge), 'request'),
    'not sexual (dev)': await sharesOf(judge, notSexual, 'request'),
  }
}

/** Adds evidence of age to a text. Without examples of `sexual/minors`, the share flagged is the best estimate of its recall. */
const withAge = ({ text }: Row): { readonly text: string } => ({
  text: text
    .split(' ')
    .map((word, at) => (at % 50 === 0 ? `teenager ${word}` : word))
    .join(' '),
})

/** Share of the texts that each category blocks. */
export async function sharesOf(
  judge: Judge,
  rows: readonly { readonly text: string }[],
  direction: TextDirection,
): Promise<Shares> {
  const flagged = await inTurn(rows, async ({ text }) => (await judge(text, direction)).flagged)
  const share = (isHit: (list: readonly Category[]) => boolean): number =>
    rounded(flagged.filter(isHit).length / rows.length)
  const shares: Record<string, number> = {}
  for (const category of categories) shares[category] = share((list) => list.includes(category))
  shares['always'] = share((list) => alwaysBlockedCategories.some((category) => list.includes(category)))
  shares['any'] = share((list) => list.length > 0)
  return shares
}

const disguised: readonly Category[] = ['sexual', 'hate', 'harassment', 'self-harm']

async function evasionOf(judge: Judge, dev: readonly Row[]): Promise<StageFigures['evasion']> {
  const table: Record<string, Record<string, number>> = {}
  for (const { name, apply } of disguises) {
    const recalls: Record<string, number> = {}
    for (const category of disguised) {
      const positives = positivesOf(dev, category)
      const hits = await inTurn(positives, async ({ text }) =>
        (await judge(apply(text), 'request')).flagged.includes(category),
      )
      recalls[category] = rounded(hits.filter(Boolean).length / positives.length)
    }
    table[name] = recalls
  }
  return table
}

const rounded = (value: number): number => Math.round(value * 1e4) / 1e4
