/**
 * Chooses how the scores of both stages are combined, and writes `encoder.json` of the encoder's package.
 *
 *   node scripts/encoder/calibrate.ts DATA_FOLDER VERSION
 *
 * Run it after the linear classifier or the encoder was trained: means and deviations belong to both. Prints numbers only.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createEmbeddedClassifier } from '../../src/adapters/classifiers/embedded/classifier.ts'
import { openEncoder } from '../../src/adapters/classifiers/encoder/encoder.ts'
import { systemClock } from '../../src/base/clock.ts'
import { perCategory } from '../../src/domain/scan/classify/categories.ts'
import type { Category, PerCategory } from '../../src/domain/scan/classify/categories.ts'
import type { EncoderStack, StackedCategory } from '../../src/domain/scan/classify/encoder.ts'
import { slopeOf } from '../classifier/calibrate.ts'
import { readData } from '../classifier/rows.ts'

const sizes = { windowTokens: 256, strideTokens: 192 }
/**
 * In log-odds of the linear score. Chosen on the dev half and on the share of ordinary text that is asked about: categories in which
 * ordinary text scores high have higher bounds.
 */
const askFrom: PerCategory<number> = {
  'self-harm': -3.2,
  'sexual/minors': 0,
  harassment: -3,
  hate: -2.25,
  illicit: -1.5,
  sexual: -2,
}
/** The share of the encoder in each category; the linear score has the rest. Chosen by average precision on the dev half. */
const encoderShare: PerCategory<number> = {
  'self-harm': 1,
  'sexual/minors': 0,
  harassment: 0.8,
  hate: 0.6,
  illicit: 0.7,
  sexual: 0.5,
}
/**
 * In deviations from the mean of unlabelled turns. Chosen by cross-validation over sources (cross-validate.ts). Of ordinary text of
 * sources that the models have not seen, harassment, hate and illicit flag less than 1 %. Self-harm and sexual flag 1 to 4 % of
 * technical text and of everyday text that names categories, and less than 1 % of the others. No row of an evaluation set is used.
 */
const thresholds: Omit<PerCategory<number>, 'sexual/minors'> = {
  'self-harm': 3.2,
  harassment: 2.3,
  hate: 1.8,
  illicit: 1.65,
  sexual: 2.6,
}
/** Log-odds beyond this are cut, as in the gateway. */
const furthest = 20

type Scored = { readonly logits: PerCategory<number>; readonly logOdds: PerCategory<number> }

const [folder, version] = process.argv.slice(2)
if (folder === undefined || version === undefined) {
  console.error('Usage: node scripts/encoder/calibrate.ts DATA_FOLDER VERSION')
  process.exit(2)
}

const packageFile = (name: string): URL => new URL(`../../packages/moderation-encoder/${name}`, import.meta.url)
const digest = createHash('sha256')
  .update(readFileSync(packageFile('model.onnx')))
  .update(readFileSync(packageFile('model.onnx.data')))
  .digest('hex')
const unused = { weight: 0, mean: 0, deviation: 1 }
write({
  categories: perCategory(() => ({
    askFrom: 0,
    encoder: unused,
    linear: unused,
    slope: 1,
    thresholds: { request: 0, response: 0 },
  })),
})

const data = readData(folder)
const linear = createEmbeddedClassifier()
const opened = await openEncoder({ clock: systemClock })
if ('problem' in opened) throw new Error(opened.problem.message)
await using encoder = opened.encoder
const status = await encoder.started()
if (status.state !== 'ready') throw new Error(`The encoder is ${status.state}.`)
const pool = await scored(data.pool)
const dev = await scored(data.dev)
const inputs = perCategory(inputsOf)
write({ categories: perCategory(stacked) })

async function scored(texts: readonly { readonly text: string }[]): Promise<readonly Scored[]> {
  const all: Scored[] = []
  for (const { text } of texts) {
    const { scores } = linear.classify(text, 'request')
    all.push({ logits: await encoder.score(text), logOdds: perCategory((category) => logOddsOf(scores[category])) })
  }
  return all
}

/** A category without the encoder keeps the linear score, and needs neither slope nor threshold. */
function stacked(category: Category): StackedCategory {
  const isOwn = category === 'sexual/minors'
  const threshold = isOwn ? 0 : thresholds[category]
  return {
    askFrom: askFrom[category],
    ...inputs[category],
    slope: isOwn ? 1 : slopeOf(...labelledScores(category)),
    thresholds: { request: threshold, response: threshold },
  }
}

/** Categories that are not labelled in the dev half get the slope 1, like those with too few examples. */
function labelledScores(category: Category): Parameters<typeof slopeOf> {
  return [dev.map((text) => rawOf(text, category)), data.dev.map(({ labels }) => labels[category])]
}

function inputsOf(category: Category): Pick<StackedCategory, 'encoder' | 'linear'> {
  const share = encoderShare[category]
  return {
    encoder: { weight: share, ...spreadOf(pool.map(({ logits }) => logits[category])) },
    linear: { weight: rounded(1 - share), ...spreadOf(pool.map(({ logOdds }) => logOdds[category])) },
  }
}

function rawOf({ logits, logOdds }: Scored, category: Category): number {
  const { encoder: second, linear: first } = inputs[category]
  return (
    (second.weight * (logits[category] - second.mean)) / second.deviation +
    (first.weight * (logOdds[category] - first.mean)) / first.deviation
  )
}

function spreadOf(values: readonly number[]): { readonly mean: number; readonly deviation: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
  return { mean: rounded(mean), deviation: rounded(Math.sqrt(variance)) }
}

function logOddsOf(score: number): number {
  return Math.max(-furthest, Math.min(furthest, Math.log(score / (1 - score))))
}

function rounded(value: number): number {
  return Math.round(value * 1e4) / 1e4
}

function write(stack: EncoderStack): void {
  writeFileSync(packageFile('encoder.json'), `${JSON.stringify({ version, digest, ...sizes, stack }, null, 2)}\n`)
}
