/**
 * Measures the bundled moderation model and prints its model card: quality, over-blocking, evasion.
 * Fails if an average precision is more than 0.02 below the one in `metrics.json`, if more of a violating
 * stream is shown, or if the kernel gives a text other scores than the trainer's reading of it.
 *
 *   node scripts/evaluate-classifier.ts DATA_FOLDER [--write]
 *
 * With `--write` it puts the current hold-back bounds into the header of the model, and writes its metrics and its model card.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { shippedModel } from '../src/adapters/classifiers/embedded/classifier.ts'
import { loadKernel } from '../src/adapters/classifiers/embedded/kernel/load.ts'
import { decodeModel, encodeModel } from '../src/adapters/classifiers/embedded/model-file.ts'
import { createTextScorer } from '../src/adapters/classifiers/embedded/text-scorer.ts'
import { createReferenceScorer } from '../test/support/reference-scorer/reference-scorer.ts'
import { evaluateModel } from './classifier/evaluate.ts'
import type { Metrics } from './classifier/evaluate.ts'
import { cardFile, metricsFile } from './classifier/files.ts'
import { holdBackBounds } from './classifier/hold-back.ts'
import { writeModelCard } from './classifier/model-card.ts'
import { readData } from './classifier/rows.ts'

const tolerance = 0.02
const [folder, write] = process.argv.slice(2)
if (folder === undefined || (write !== undefined && write !== '--write')) {
  console.error('Usage: node scripts/evaluate-classifier.ts DATA_FOLDER [--write]')
  process.exit(2)
}

const recorded: Metrics = JSON.parse(readFileSync(metricsFile, 'utf8'))
const shipped = readFileSync(shippedModel)
const bytes = write === undefined ? shipped : withHoldBack(shipped)
const model = decodeModel(bytes)
const data = readData(folder)
const measured = await evaluateModel(model, bytes.byteLength, data)
const metrics: Metrics = { ...measured, heldOut: recorded.heldOut }
if (write === undefined) {
  console.log(writeModelCard(metrics))
} else {
  writeFileSync(shippedModel, bytes)
  writeFileSync(metricsFile, `${JSON.stringify(metrics, null, 2)}\n`)
  writeFileSync(cardFile, writeModelCard(metrics))
}

const worse = [...worseQuality(), ...worseHoldBack()]
for (const name of worse) console.error(`${name} is worse than in metrics.json`)
const different = differentScores()
if (different > 0) console.error(`the kernel gives ${different} texts other scores than the trainer's reading`)
process.exitCode = worse.length + different > 0 ? 1 : 0

function differentScores(): number {
  const score = createTextScorer(loadKernel(model))
  const reference = createReferenceScorer(model)
  const texts = [...data.dev, ...data.overblock, ...data.pool].map(({ text }) => text)
  return texts.filter((text) => !isDeepStrictEqual(score(text), reference(text))).length
}

function withHoldBack(file: Uint8Array): Uint8Array {
  const decoded = decodeModel(file)
  return encodeModel({ ...decoded, header: { ...decoded.header, holdBack: holdBackBounds } })
}

function worseQuality(): readonly string[] {
  return Object.entries(recorded.quality).flatMap(([category, { averagePrecision }]) =>
    (measured.quality[category]?.averagePrecision ?? 0) < averagePrecision - tolerance ? [category] : [],
  )
}

function worseHoldBack(): readonly string[] {
  return Object.entries(recorded.holdBack['by risk']?.shown ?? {}).flatMap(([category, before]) => {
    const now = measured.holdBack['by risk']?.shown[category]
    const isWorse = now === undefined || now.nothingShown < before.nothingShown - tolerance || now.p90 > before.p90
    return isWorse ? [`what is shown of ${category}`] : []
  })
}
