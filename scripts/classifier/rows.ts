/** Reads labelled text from the data folder. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Category } from '../../src/domain/scan/classify/categories.ts'

/** Instructions in a text that are meant for the model. A label of the encoder and of the detector of prompt injections, and no moderation category. */
export const promptInjection = 'prompt_injection'

/** A missing category is unknown, not 0. Labels between 0 and 1 are soft labels. */
export type Row = {
  readonly text: string
  readonly labels: Readonly<Partial<Record<Category | typeof promptInjection, number>>>
  readonly weight: number
  readonly source: string
}

/** A prompt that sounds unsafe: some are, some are not. */
export type ScaryPrompt = { readonly text: string; readonly safe: boolean }

export type Data = {
  readonly train: readonly Row[]
  /** Further English rows with a label for hate alone. */
  readonly moreHate: readonly Row[]
  readonly pool: readonly { readonly text: string }[]
  readonly dev: readonly Row[]
  readonly overblock: readonly ScaryPrompt[]
}

export function readData(folder: string): Data {
  return {
    train: readLines(folder, 'train'),
    moreHate: readLines<Row>(folder, 'train-hate-extra').filter(isHatemoji).map(aboutHate),
    pool: readLines(folder, 'pool-unlabelled'),
    dev: readLines(folder, 'eval-dev'),
    overblock: readLines(folder, 'overblock-dev'),
  }
}

/** Of the further rows about hate. Those in other languages are left out, because they take weight from English words. */
const isHatemoji = ({ source }: Row): boolean => source === 'hatemoji'

/** Their other labels are not checked. */
const aboutHate = (row: Row): Row => ({
  ...row,
  labels: row.labels.hate === undefined ? {} : { hate: row.labels.hate },
})

export function readLines<Line>(folder: string, name: string): Line[] {
  const text = gunzipSync(readFileSync(join(folder, `${name}.jsonl.gz`))).toString('utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

const runLength = 10

/** Drops rows that share ten consecutive words with an evaluation text, because evaluation texts must not be trained on. */
export function withoutOverlap(rows: readonly Row[], evaluation: readonly { readonly text: string }[]): readonly Row[] {
  const known = new Set(evaluation.flatMap(({ text }) => wordRuns(text)))
  return rows.filter(({ text }) => !wordRuns(text).some((run) => known.has(run)))
}

function wordRuns(text: string): readonly string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  if (words.length < runLength) return words.length < 4 ? [] : [words.join(' ')]
  return words.slice(runLength - 1).map((_, index) => words.slice(index, index + runLength).join(' '))
}
