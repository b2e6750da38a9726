/**
 * The rows that the model for other languages learns from: the authored texts of this folder, and as harmless neighbours public
 * statements about groups in ten languages and English texts of the other models.
 */
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hashWord } from '../../src/adapters/classifiers/embedded/hashing.ts'
import { featuresOf, piecesOf, visitFeatures } from '../../src/adapters/classifiers/embedded/languages/features.ts'
import { sentencesInOtherLanguages } from '../../src/adapters/classifiers/embedded/languages/other-language.ts'
import { normalise } from '../../src/domain/scan/normalise/normalise.ts'
import { writeAuthored } from '../classifier/authored.ts'
import { readLines, type Row } from '../classifier/rows.ts'
import { drawPhrases } from './phrases.ts'

const seed = 11
/** Each is scored by a model that was trained without it. */
export const folds = 5
/** Phrases are only parts of texts, and public statements are far from the subject. */
const phraseWeight = 0.3
const groupsWeight = 0.2
/** Harmless texts that have nearly the words of a crisis. */
const nearWeight = 3
const idiomWeight = 4
const sadWeight = 2

function weightOf(file: string): number {
  if (file.endsWith('-sad.txt')) return sadWeight
  return file.endsWith('-near.txt') || file.startsWith('xx-') ? nearWeight : 1
}
/** A text of which nothing is known is harmless, so a row without features counts a great deal. */
const unknownWeight = 500

export type LanguageRow = Row & {
  /** The file without its ending, such as `de`; the source of a public row. */
  readonly language: string
  readonly fold: number
  /** Written in the languages of the model. */
  readonly isOwn: boolean
  readonly features: Features
}

const pathOf = (folder: string): string => fileURLToPath(new URL(folder, import.meta.url))
const sourceFolders = ['authored', 'phrases'].map(pathOf)
const harmlessLists = ['idiom-multilingual'].map((list) => pathOf(`../classifier/lexicons/${list}`))

/** Changes with any authored text, so that a test can say that the model is older than its texts. */
export function digestOfSources(): string {
  const hash = createHash('sha256')
  for (const folder of sourceFolders)
    for (const file of readdirSync(folder).sort()) hash.update(file).update(readFileSync(join(folder, file)))
  return hash.digest('hex')
}

/** A text of a category says nothing of harm against oneself or of children, unless it is labelled so. */
const withZeros = (row: Row): Row => ({
  ...row,
  labels: { 'self-harm': 0, 'sexual/minors': 0, sexual: 0, ...row.labels },
})

export function readRows(dataFolder: string): readonly LanguageRow[] {
  const authored = writeAuthored(pathOf('authored'), seed).map((row) => ({
    ...withZeros(row),
    language: row.file.slice(0, 2),
    weight: weightOf(row.file),
    group: row.template,
  }))
  const languages = writeAuthored(pathOf('../classifier/authored'), seed)
    .filter(({ file }) => file === 'languages.txt')
    .map((row) => ({ ...withZeros(row), language: 'languages.txt', group: row.template }))
  const phrases = drawPhrases([pathOf('phrases'), pathOf('../classifier/lexicons/crisis-multilingual')], seed)
    .filter(({ language }) => language !== 'en')
    .map(({ language, text, line }) => ({
      ...withZeros({ text, labels: { 'self-harm': 1 }, weight: phraseWeight, source: 'phrases' }),
      language: `${language}, phrases`,
      group: line,
    }))
  const groups = readLines<Row>(dataFolder, 'train-hate-extra')
    .filter(({ source }) => source === 'mhc')
    .map((row) => ({
      ...row,
      labels: { 'self-harm': 0, 'sexual/minors': 0, sexual: 0 },
      language: 'mhc',
      weight: groupsWeight,
    }))
    .filter(({ text }) => hashWord(text) % 3 === 0)
  const idioms = drawPhrases(harmlessLists, seed).map(({ text, line }) => ({
    ...withZeros({ text, labels: {}, weight: idiomWeight, source: 'idioms' }),
    language: 'idioms',
    group: line,
  }))
  return [
    ...authored,
    ...phrases,
    ...languages,
    ...idioms,
    { ...withZeros({ text: '', labels: {}, weight: unknownWeight, source: 'unknown' }), language: 'unknown', group: 0 },
    ...[...groups, ...englishRows(dataFolder)].map((row) => ({ ...row, group: hashWord(row.text) })),
  ].map(({ group, ...row }) => ({
    ...row,
    fold: group % folds,
    isOwn: (row.source.startsWith('authored') && row.language !== 'xx') || row.source === 'phrases',
    features: featuresIn(row.text),
  }))
}

/** What English texts and code have that looks like another language: names, single words, pieces of code. */
function englishRows(dataFolder: string): readonly (Row & { readonly language: string })[] {
  const pool = readLines<Row>(dataFolder, 'pool-unlabelled').map(({ text }) => text)
  const authored = writeAuthored(pathOf('../classifier/authored'), seed)
    .filter(({ file }) => file !== 'languages.txt')
    .map(({ text }) => text)
  return [...new Set([...pool, ...authored].flatMap(sentencesInOtherLanguages))].map((text) => ({
    ...withZeros({ text, labels: {}, weight: 1, source: 'english' }),
    language: 'english',
  }))
}

type Features = {
  readonly words: readonly number[]
  readonly grams: readonly number[]
  /** Hashes of its words. */
  readonly tokens: readonly number[]
}

/** The slots of a whole text, as if it were one sentence. */
function featuresIn(text: string): Features {
  const words: number[] = []
  const grams: number[] = []
  const tokens: number[] = []
  for (const piece of piecesOf(normalise(text))) {
    visitFeatures(piece, featuresOf, {
      word: (slot) => void words.push(slot),
      letters: (slot) => void grams.push(slot),
      token({ hash, grams: parts }) {
        tokens.push(hash)
        grams.push(...parts)
      },
    })
  }
  return { words, grams, tokens }
}
