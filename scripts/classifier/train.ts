/** Trains the model. The same data and the same code give the same model, byte for byte. */
import { fileURLToPath } from 'node:url'
import { hashVersion, hashWord } from '../../src/adapters/classifiers/embedded/hashing.ts'
import type { ClassifierModel, ModelHeader } from '../../src/adapters/classifiers/embedded/model.ts'
import { perCategory } from '../../src/domain/scan/classify/categories.ts'
import { writeAuthored } from './authored.ts'
import type { AuthoredRow } from './authored.ts'
import { calibrate, composition } from './calibrate.ts'
import type { CalibrationTexts } from './calibrate.ts'
import { sharesOf } from './evaluate.ts'
import type { Metrics } from './evaluate.ts'
import { fitHeads } from './fit.ts'
import { holdBackBounds } from './hold-back.ts'
import { listPairs } from './heads.ts'
import { compileLexicon } from './lexicon-files.ts'
import type { CompiledLexicon } from './lexicon-files.ts'
import { createTextReader } from './matrix.ts'
import { withoutOverlap } from './rows.ts'
import type { Data, Row } from './rows.ts'
import { createJudge } from './stages.ts'
import { countVocabulary } from './vocabulary-count.ts'

const settings = { penalty: 1, iterations: 40, fewestTexts: 3, features: 56_000 }
const seed = 7
/** Reports and code name the categories very often. At full weight the words themselves would lose theirs. */
const fileWeights: Readonly<Record<string, number>> = { 'reports.txt': 0.2, 'moderation-code.txt': 0.05 }
/** Requests for crime are few rows, but of many kinds. */
const sourceWeights: Readonly<Record<string, number>> = {
  ailuminate: 2,
  advbench: 2,
  harmbench: 2,
  malinstruct: 2,
  hatemoji: 0.4,
}
const uncalibrated = perCategory(() => ({ slope: 1, thresholds: { request: 0, response: 0 } }))

type Parts = { readonly lexicon: CompiledLexicon; readonly vocabulary: Uint32Array; readonly version: string }

export type Training = { readonly model: Omit<ClassifierModel, 'digest'>; readonly heldOut: Metrics['heldOut'] }

/** The rows that the heads learn from, and what they have in common. */
export function trainingParts(data: Data, version: string) {
  const labelled = withoutOverlap([...data.train, ...data.moreHate], [...data.dev, ...data.overblock])
    .map(withoutMinors)
    .map(weighed)
  const authored = writeAuthored(pathOf('authored'), seed).map(weighedFile).map(withoutLanguages)
  const lexicon = compileLexicon(pathOf('lexicons'))
  const texts = [...labelled, ...authored, ...data.pool].map(({ text }) => text)
  return { labelled, authored, parts: { lexicon, version, vocabulary: countVocabulary(texts, lexicon.words) } }
}

/** A model from these rows alone, with raw scores. */
export const fitUncalibrated = (rows: readonly Row[], parts: Parts): Omit<ClassifierModel, 'digest'> =>
  fit(rows, parts, uncalibrated)

/** Fits twice: without the held-out texts, for thresholds and slopes, and then on all texts, for the final weights. */
export async function trainModel(data: Data, version: string, log: (line: string) => void): Promise<Training> {
  const { labelled, authored, parts } = trainingParts(data, version)
  log(`${labelled.length} labelled rows, ${authored.length} authored ones`)

  const kept = [...labelled.filter((row) => !isHeldOut(row)), ...authored.filter((row) => !isHeldOutTemplate(row))]
  const trial = { ...fit(kept, parts, uncalibrated), digest: '' }
  log('fitted without the held-out texts')
  const harmless = harmlessHeldOut(authored)
  const calibration = calibrate(trial, {
    ...harmless,
    pool: data.pool.map(({ text }) => text),
    scary: data.overblock.filter(({ safe }) => safe).map(({ text }) => text),
    labelled: labelled.filter((row) => isHeldOut(row) && row.source !== 'hatemoji'),
  })
  log('calibrated')
  const judge = createJudge({ ...trial, header: { ...trial.header, calibration } })
  const heldOut = {
    'ordinary requests, templates held out': await sharesOf(judge, asRows(harmless.ordinary), 'request'),
    'ordinary answers, templates held out': await sharesOf(judge, asRows(harmless.answers), 'response'),
    'technical text, templates held out': await sharesOf(judge, asRows(harmless.technical), 'request'),
    'harmless but scary, templates held out': await sharesOf(judge, asRows(harmless.hard), 'request'),
  }
  return { model: fit([...labelled, ...authored], parts, calibration), heldOut }
}

const ordinaryFiles = ['benign.txt', 'instructions.txt']
const technicalFiles = ['technical.txt']
const answersFile = 'responses.txt'

function harmlessHeldOut(
  authored: readonly AuthoredRow[],
): Pick<CalibrationTexts, 'ordinary' | 'technical' | 'answers' | 'hard'> {
  const held = authored.filter((row) => row.isBenign && isHeldOutTemplate(row))
  const from = (isOf: (file: string) => boolean): readonly string[] =>
    held.filter(({ file }) => isOf(file)).map(({ text }) => text)
  return {
    ordinary: from((file) => ordinaryFiles.includes(file)),
    technical: from((file) => technicalFiles.includes(file)),
    answers: from((file) => file === answersFile),
    hard: from((file) => ![...ordinaryFiles, ...technicalFiles, answersFile].includes(file)),
  }
}

const asRows = (texts: readonly string[]): readonly { readonly text: string }[] => texts.map((text) => ({ text }))

const pathOf = (folder: string): string => fileURLToPath(new URL(folder, import.meta.url))

/** Sexual content about minors was removed from the labelled data. */
const withoutMinors = (row: Row): Row => ({ ...row, labels: { ...row.labels, 'sexual/minors': 0 } })

const weighed = (row: Row): Row => ({ ...row, weight: row.weight * (sourceWeights[row.source] ?? 1) })

const weighedFile = (row: AuthoredRow): AuthoredRow => ({ ...row, weight: fileWeights[row.file] ?? 1 })

/** The head of self-harm learns English alone (`die` is a German word). In other languages its phrases decide. */
function withoutLanguages(row: AuthoredRow): AuthoredRow {
  if (row.file !== 'languages.txt') return row
  const { 'self-harm': _unused, ...labels } = row.labels
  return { ...row, labels }
}

const isHeldOut = ({ text }: Row): boolean => hashWord(text) % 10 === 0
const isHeldOutTemplate = ({ template }: AuthoredRow): boolean => template % 6 === 0

function fit(
  rows: readonly Row[],
  parts: Parts,
  calibration: ModelHeader['calibration'],
): Omit<ClassifierModel, 'digest'> {
  const { lexicon, vocabulary, version } = parts
  const read = createTextReader(lexicon, vocabulary)
  const { features, weights, heads } = fitHeads(
    rows.map((row) => ({ row, reading: read(row.text) })),
    lexicon.lists,
    settings,
  )
  const header: ModelHeader = {
    version,
    hashVersion,
    lists: lexicon.lists,
    pairs: listPairs,
    heads,
    minors: composition,
    calibration,
    holdBack: holdBackBounds,
  }
  return { header, features, weights, vocabulary, lexicon: lexicon.tables }
}
