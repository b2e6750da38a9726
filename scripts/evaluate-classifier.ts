/**
 * Measures the bundled moderation model and prints its model card: quality, over-blocking, evasion.
 * Fails if an average precision is more than 0.02 below the one in `metrics.json`.
 *
 *   node scripts/evaluate-classifier.ts DATA_FOLDER
 */
import { readFileSync } from 'node:fs'
import { shippedModel } from '../src/adapters/classifiers/embedded/classifier.ts'
import { decodeModel } from '../src/adapters/classifiers/embedded/model-file.ts'
import { evaluateModel } from './classifier/evaluate.ts'
import type { Metrics } from './classifier/evaluate.ts'
import { metricsFile } from './classifier/files.ts'
import { writeModelCard } from './classifier/model-card.ts'
import { readData } from './classifier/rows.ts'

const tolerance = 0.02
const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('Usage: node scripts/evaluate-classifier.ts DATA_FOLDER')
  process.exit(2)
}

const recorded: Metrics = JSON.parse(readFileSync(metricsFile, 'utf8'))
const bytes = readFileSync(shippedModel)
const measured = await evaluateModel(decodeModel(bytes), bytes.byteLength, readData(folder))
console.log(writeModelCard({ ...measured, heldOut: recorded.heldOut }))

const worse = Object.entries(recorded.quality).filter(([category, { averagePrecision }]) => {
  const now = measured.quality[category]?.averagePrecision ?? 0
  return now < averagePrecision - tolerance
})
for (const [category] of worse) console.error(`${category} is worse than in metrics.json`)
process.exitCode = worse.length > 0 ? 1 : 0
