/**
 * Trains the embedded moderation classifier and writes the model, its metrics and its model card.
 *
 *   npm run train:classifier -- DATA_FOLDER
 *
 * DATA_FOLDER contains train, pool-unlabelled, eval-dev and overblock-dev as .jsonl.gz. The outputs contain no text of it.
 */
import { writeFileSync } from 'node:fs'
import { shippedModel } from '../src/adapters/classifiers/embedded/classifier.ts'
import { decodeModel, encodeModel } from '../src/adapters/classifiers/embedded/model-file.ts'
import { evaluateModel } from './classifier/evaluate.ts'
import { cardFile, metricsFile } from './classifier/files.ts'
import { writeModelCard } from './classifier/model-card.ts'
import { readData } from './classifier/rows.ts'
import { trainModel } from './classifier/train.ts'

const version = '3'
const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('Usage: npm run train:classifier -- DATA_FOLDER')
  process.exit(2)
}

const data = readData(folder)
const { model, heldOut } = await trainModel(data, version, console.log)
const bytes = encodeModel(model)
writeFileSync(shippedModel, bytes)
const metrics = { ...(await evaluateModel(decodeModel(bytes), bytes.byteLength, data)), heldOut }
writeFileSync(metricsFile, `${JSON.stringify(metrics, null, 2)}\n`)
writeFileSync(cardFile, writeModelCard(metrics))
console.log(`model ${bytes.byteLength} bytes`)
