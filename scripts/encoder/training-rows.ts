/** The rows from which the encoder is trained, before they are made readable. */
import { fileURLToPath } from 'node:url'
import type { Category } from '../../src/domain/scan/classify/categories.ts'
import { writeAuthored } from '../classifier/authored.ts'
import { readLines, withoutOverlap } from '../classifier/rows.ts'
import type { Data, Row } from '../classifier/rows.ts'

/** The order of the encoder's outputs for categories. Behind them are whether any of them applies, and prompt injection. */
export const encoderLabels: readonly Category[] = [
  'sexual',
  'hate',
  'harassment',
  'self-harm',
  'illicit',
  'sexual/minors',
]

const seed = 7

/** Labelled and authored rows, each once, without those that repeat a text of an evaluation set. */
export function trainingRows(folder: string, { train, dev, overblock }: Data): readonly Row[] {
  const labelled = [...train, ...readLines<Row>(folder, 'train-hate-extra')].map(withoutMinors)
  const authored = writeAuthored(fileURLToPath(new URL('../classifier/authored', import.meta.url)), seed)
  return withoutRepeats(withoutOverlap([...labelled, ...authored], [...dev, ...overblock]))
}

/** Sexual content about minors was removed from the labelled data. */
const withoutMinors = (row: Row): Row => ({ ...row, labels: { ...row.labels, 'sexual/minors': 0 } })

const withoutRepeats = (list: readonly Row[]): readonly Row[] => [
  ...new Map(list.map((row) => [row.text, row])).values(),
]
