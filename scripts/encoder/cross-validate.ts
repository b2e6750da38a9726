/**
 * Scores every source with both stages trained without it, in folds of sources, and writes the scores.
 *
 *   node scripts/encoder/cross-validate.ts DATA_FOLDER HELD_OUT SCORES
 *
 * HELD_OUT is held-out.jsonl.gz of cross_validate.py. The linear classifier is trained here, once for each fold. SCORES gets a line for
 * each row: its source, labels, and the scores of both stages in deviations from the mean of unlabelled turns. Prints counts only.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import { loadKernel } from '../../src/adapters/classifiers/embedded/kernel/load.ts'
import { createTextScorer } from '../../src/adapters/classifiers/embedded/text-scorer.ts'
import { categories, perCategory, type Category, type PerCategory } from '../../src/domain/scan/classify/categories.ts'
import { readData } from '../classifier/rows.ts'
import { fitUncalibrated, trainingParts } from '../classifier/train.ts'
import { encoderLabels, trainingRows } from './training-rows.ts'

type Fold = {
  readonly fold: number
  readonly rows: readonly number[]
  readonly logits: readonly (readonly number[])[]
  readonly pool: readonly (readonly number[])[]
}

const [folder, heldOut, scores] = process.argv.slice(2)
if (folder === undefined || heldOut === undefined || scores === undefined) {
  console.error('Usage: node scripts/encoder/cross-validate.ts DATA_FOLDER HELD_OUT SCORES')
  process.exit(2)
}

const data = readData(folder)
const rows = trainingRows(folder, data)
const { labelled, authored, parts } = trainingParts(data, 'cross-validation')
const lines: string[] = []
for (const line of gunzipSync(readFileSync(heldOut)).toString('utf8').trim().split('\n')) addFold(JSON.parse(line))
writeFileSync(scores, gzipSync(lines.join('\n')))

function addFold(part: Fold): void {
  const held = new Set(part.rows.map((row) => rows[row]?.source))
  const kept = [...labelled, ...authored].filter(({ source }) => !held.has(source))
  const score = createTextScorer(loadKernel({ ...fitUncalibrated(kept, parts), digest: '' }))
  const turns = data.pool.slice(0, part.pool.length).map(({ text }) => score(text))
  const linearScale = perCategory((category) => scaleOf(turns.map((turn) => turn[category])))
  const encoderScale = perCategory((category) => scaleOf(part.pool.map((logits) => outputOf(logits, category))))
  for (const [at, number] of part.rows.entries()) {
    const row = rows[number]
    if (row === undefined) continue
    const linear = score(row.text)
    const logits = part.logits[at] ?? []
    const both = perCategory((category) => ({
      linear: linearScale[category](linear[category]),
      encoder: encoderScale[category](outputOf(logits, category)),
    }))
    lines.push(JSON.stringify({ source: row.source, labels: row.labels, fold: part.fold, scores: pairsOf(both) }))
  }
  console.log(`fold ${part.fold}: ${part.rows.length} rows of ${held.size} sources, trained on ${kept.length}`)
}

function outputOf(logits: readonly number[], category: Category): number {
  return logits[encoderLabels.indexOf(category)] ?? Number.NaN
}

function scaleOf(values: readonly number[]): (value: number) => number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length)
  return (value) => Math.round(((value - mean) / deviation) * 1000) / 1000
}

/** Two numbers per category, in the order of `categories`. */
function pairsOf(both: PerCategory<{ readonly linear: number; readonly encoder: number }>): readonly number[] {
  return categories.flatMap((category) => [both[category].linear, both[category].encoder])
}
