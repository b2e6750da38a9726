/**
 * Writes the texts from which the encoder is trained, as the gateway would give them to it.
 *
 *   node scripts/encoder/prepare.ts DATA_FOLDER OUT_FOLDER
 *
 * DATA_FOLDER contains train, train-hate-extra, pool-unlabelled, eval-dev and overblock-dev as .jsonl.gz. OUT_FOLDER gets train, pool
 * and dev for `train.py`: a readable text, its source, and eight labels, of which null is unknown. Prints counts only.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { loadModel } from '../../src/adapters/classifiers/embedded/classifier.ts'
import { createVocabulary } from '../../src/adapters/classifiers/embedded/unmask.ts'
import { readableText } from '../../src/adapters/classifiers/encoder/readable-text.ts'
import { promptInjection, readData } from '../classifier/rows.ts'
import type { Row } from '../classifier/rows.ts'
import { disguisedCopies } from './disguised-copies.ts'
import { encoderLabels, trainingRows } from './training-rows.ts'

const disguisedRows = 14_000
/** A row is harmless as a whole if this many categories are known not to apply. */
const knownToBeHarmless = 4

const [folder, out] = process.argv.slice(2)
if (folder === undefined || out === undefined) {
  console.error('Usage: node scripts/encoder/prepare.ts DATA_FOLDER OUT_FOLDER')
  process.exit(2)
}

const vocabulary = createVocabulary(loadModel().vocabulary)
const data = readData(folder)
const kept = trainingRows(folder, data)

mkdirSync(out, { recursive: true })
write('train', [...kept, ...disguisedCopies(kept, disguisedRows)])
write(
  'pool',
  data.pool.map(({ text }) => ({ text, labels: {}, weight: 1, source: 'pool' })),
)
write('dev', data.dev)

function write(name: string, list: readonly Row[]): void {
  const lines = list.map(({ text, labels, source }) => {
    const known = name === 'dev' ? labelsOf(labels, 0) : labelsOf(labels, null)
    return `${JSON.stringify({ text: readableText(text, vocabulary), source, labels: known })}\n`
  })
  writeFileSync(join(out ?? '', `${name}.jsonl.gz`), gzipSync(lines.join('')))
  console.log(`${name}: ${list.length} texts`)
}

/**
 * The categories, whether any of them applies, and prompt injection. `otherwise` is the label of "any" for a row that is neither
 * labelled with a category nor known to be harmless. A harmless row injects nothing.
 */
function labelsOf(labels: Row['labels'], otherwise: 0 | null): readonly (number | null)[] {
  const known = encoderLabels.map((category) => labels[category] ?? null)
  const harmless = known.slice(0, -1).filter((label) => label === 0).length >= knownToBeHarmless
  const any = known.includes(1) ? 1 : harmless ? 0 : otherwise
  return [...known, any, labels[promptInjection] ?? (harmless && any === 0 ? 0 : null)]
}
