/** The model file format: a magic number, a JSON header, sections with their lengths, and a SHA-256 checksum at the end. */
import { createHash } from 'node:crypto'
import type { PerCategory } from '../../../domain/scan/classify/categories.ts'
import type { HoldBackBounds } from '../../../domain/scan/classify/classifier.ts'
import { hashVersion } from './hashing.ts'
import { heads } from './model.ts'
import type { ClassifierModel, LexiconTables, ModelHeader } from './model.ts'

const magic = 'GATEMOD1'
const digestBytes = 32

export function encodeModel(model: Omit<ClassifierModel, 'digest'>): Uint8Array {
  const { words, stems, phrases, phraseLengths } = model.lexicon
  const sections = [
    new TextEncoder().encode(JSON.stringify(storedHeader(model.header))),
    encodeAscending(model.features),
    new Uint8Array(model.weights.buffer, model.weights.byteOffset, model.weights.byteLength),
    bytesOf(model.vocabulary),
    ...[words, stems, phrases, phraseLengths].map((table) => bytesOf(Uint32Array.from([...table].flat()))),
  ]
  const body = Buffer.concat([
    Buffer.from(magic),
    ...sections.flatMap((section) => [bytesOf(Uint32Array.of(section.byteLength)), section]),
  ])
  return Buffer.concat([body, createHash('sha256').update(body).digest()])
}

/** Throws if the file is damaged, truncated, or made for another hashing version. */
export function decodeModel(file: Uint8Array): ClassifierModel {
  const body = file.subarray(0, file.byteLength - digestBytes)
  const digest = createHash('sha256').update(body).digest()
  if (!digest.equals(file.subarray(body.byteLength))) throw new Error('The moderation model is damaged.')
  if (Buffer.from(body.subarray(0, magic.length)).toString() !== magic)
    throw new Error('The file is not a moderation model.')
  const sections = readSections(body, magic.length)
  const [header, features, weights, vocabulary, ...tables] = sections
  if (header === undefined || features === undefined || weights === undefined || vocabulary === undefined) {
    throw new Error('The moderation model file lacks a section.')
  }
  const model = {
    header: readHeader(header),
    features: decodeAscending(features),
    weights: new Int8Array(weights),
    vocabulary: wordsOf(vocabulary),
    lexicon: readLexicon(tables),
    digest: digest.toString('hex'),
  }
  if (model.weights.length !== model.features.length * heads.length)
    throw new Error('The moderation model file has another number of weights than its features need.')
  return model
}

function readHeader(section: Uint8Array): ModelHeader {
  const stored: StoredHeader = JSON.parse(new TextDecoder().decode(section))
  if (stored.hashVersion !== hashVersion) throw new Error('The moderation model was made for another hashing version.')
  return {
    ...stored,
    holdBack: mapBounds(stored.holdBack, ({ calm, frozen }) => ({ elevatedFrom: calm, holdFrom: frozen })),
  }
}

const storedHeader = (header: ModelHeader): StoredHeader => ({
  ...header,
  holdBack: mapBounds(header.holdBack, ({ elevatedFrom, holdFrom }) => ({ calm: elevatedFrom, frozen: holdFrom })),
})

/** Model files have these names for the bounds. They stay, because other names would change the digest of every model. */
type StoredBound = { readonly calm: number; readonly frozen: number }
type StoredHeader = Omit<ModelHeader, 'holdBack'> & { readonly holdBack: BoundsOf<StoredBound> }

type BoundsOf<Bound> = Omit<HoldBackBounds, 'categories' | 'bothStages'> & {
  readonly categories: PerCategory<Bound>
  readonly bothStages?: Partial<PerCategory<Bound>>
}

/** Keeps the order of the members, because the digest depends on it. */
function mapBounds<From, To>(bounds: BoundsOf<From>, map: (bound: From) => To): BoundsOf<To> {
  const mapAll = (all: Partial<PerCategory<From>>) =>
    Object.fromEntries(Object.entries(all).map(([category, bound]) => [category, map(bound)]))
  const { categories, bothStages, ...rest } = bounds
  return {
    categories: mapAll(categories) as PerCategory<To>,
    ...(bothStages && { bothStages: mapAll(bothStages) }),
    ...rest,
  }
}

function readLexicon(tables: readonly Uint8Array[]): LexiconTables {
  const [words, stems, phrases, phraseLengths] = tables.map(readTable)
  if (words === undefined || stems === undefined || phrases === undefined || phraseLengths === undefined) {
    throw new Error('The moderation model file lacks its lexicon.')
  }
  return { words, stems, phrases, phraseLengths }
}

function readTable(section: Uint8Array): ReadonlyMap<number, number> {
  const values = wordsOf(section)
  const table = new Map<number, number>()
  for (let at = 0; at < values.length; at += 2) table.set(values[at] ?? 0, values[at + 1] ?? 0)
  return table
}

function readSections(body: Uint8Array, from: number): readonly Uint8Array[] {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  const sections: Uint8Array[] = []
  for (let at = from; at < body.byteLength;) {
    const length = view.getUint32(at, true)
    sections.push(Uint8Array.from(body.subarray(at + 4, at + 4 + length)))
    at += 4 + length
  }
  return sections
}

const bytesOf = (words: Uint32Array): Uint8Array => new Uint8Array(words.buffer, words.byteOffset, words.byteLength)

/** Sections are copied to buffers of their own, so that they are aligned. */
const wordsOf = (section: Uint8Array): Uint32Array => new Uint32Array(section.buffer, 0, section.byteLength / 4)

/** Delta-encodes ascending numbers, seven bits per byte. */
function encodeAscending(values: Uint32Array): Uint8Array {
  const bytes: number[] = []
  let last = 0
  for (const value of values) {
    let difference = value - last
    last = value
    for (; difference > 127; difference = Math.floor(difference / 128)) bytes.push((difference % 128) + 128)
    bytes.push(difference)
  }
  return Uint8Array.from(bytes)
}

function decodeAscending(bytes: Uint8Array): Uint32Array {
  const values: number[] = []
  let last = 0
  let difference = 0
  let unit = 1
  for (const byte of bytes) {
    difference += (byte & 127) * unit
    unit *= 128
    if (byte > 127) continue
    last += difference
    values.push(last)
    difference = 0
    unit = 1
  }
  return Uint32Array.from(values)
}
