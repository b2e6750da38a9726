/** What the detector of prompt injections learns from: the authored texts, and conversations of the data folder as harmless text. */
import { fileURLToPath } from 'node:url'
import { writeAuthored, type AuthoredRow } from '../classifier/authored.ts'
import { promptInjection, readData } from '../classifier/rows.ts'
import { readDocuments, type DocumentPart } from './documents.ts'
import { windowsOf, type Window } from './windows.ts'

export type Example = {
  readonly windows: readonly Window[]
  readonly isInjection: boolean
  readonly weight: number
  /** Examples of one family have templates that stand together. Left out together in cross-validation. */
  readonly family: string
}

export type Examples = {
  readonly train: readonly Example[]
  /** Conversations that are not trained on, to measure false alarms. */
  readonly conversations: readonly (readonly Window[])[]
  /** Parts of documents of packages of which none is trained on. */
  readonly documents: readonly (readonly Window[])[]
}

/** Those of the classifiers, and some for this detector alone. */
const authoredFolders = ['../classifier/authored', './authored'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)
const seed = 1
/** Templates per family. */
const familySize = 40
const neighbours = 'prompt-injection-neighbours.txt'

export function readExamples(folder: string): Examples {
  const { pool, train } = readData(folder)
  const authored = authoredFolders.flatMap((path) => writeAuthored(path, seed)).map(authoredExample)
  const documents = readDocuments()
  const trained = pool.filter((_, at) => at % 2 === 0)
  const labelled = train.filter((_, at) => at % 5 === 0)
  const measured = pool.filter((_, at) => at % 2 === 1)
  return {
    train: [
      ...authored,
      ...trained.map((row) => harmless(row, 'conversations', 0.5)),
      ...labelled.map((row) => harmless(row, 'labelled', 0.3)),
      ...documents.filter((part) => !isMeasured(part)).map((row) => harmless(row, 'documents', 1)),
    ].filter(({ windows }) => windows.length > 0),
    conversations: windowsOfAll(measured),
    documents: windowsOfAll(documents.filter(isMeasured)),
  }
}

const windowsOfAll = (rows: readonly { readonly text: string }[]): readonly (readonly Window[])[] =>
  rows.map(({ text }) => windowsOf(text)).filter(({ length }) => length > 0)

/** A quarter of the packages, by their names. */
const isMeasured = ({ packageName }: DocumentPart): boolean =>
  (packageName.charCodeAt(packageName.length - 1) + packageName.length) % 4 === 0

const harmless = ({ text }: { readonly text: string }, family: string, weight: number): Example => ({
  windows: windowsOf(text),
  isInjection: false,
  weight,
  family,
})

function authoredExample({ text, labels, file, template }: AuthoredRow): Example {
  const isInjection = labels[promptInjection] === 1
  const weight = isInjection || file === neighbours ? 1 : 0.5
  return { windows: windowsOf(text), isInjection, weight, family: `${file}:${Math.floor(template / familySize)}` }
}

export const isNeighbour = ({ family }: Example): boolean => family.startsWith(neighbours)
