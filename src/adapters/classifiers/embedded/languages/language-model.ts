/** The model for languages that the encoder cannot read: one weight per head and slot. A slot has the features that hash to it. */
import { createHash } from 'node:crypto'
import { hashVersion } from '../hashing.ts'

/** `minors` requires `sexual` as well: a text about a child, and sexual words. */
export const languageHeads = ['self-harm', 'minors', 'sexual'] as const
export type LanguageHead = (typeof languageHeads)[number]

/** Number of slots. More than the training texts have features that matter. */
export const slots = 65_536

export type LanguageModel = {
  /** SHA-256 of the authored texts that it was trained with, in hexadecimal. */
  readonly sources: string
  readonly heads: Readonly<Record<LanguageHead, LanguageHeadHeader>>
  /** One byte for each slot and head, in the order of `languageHeads`. */
  readonly weights: Int8Array
  /** Bits of the words that it has seen. A few other words have the same bits. */
  readonly seen: Uint8Array
  /** SHA-256 of the file, in hexadecimal. */
  readonly digest: string
}

const seenBytes = 65_536

/** Bits of words, two for each. */
export function bitsOfWords(hashes: Iterable<number>): Uint8Array {
  const seen = new Uint8Array(seenBytes)
  for (const hash of hashes) for (const bit of bitsOf(hash)) seen[bit >>> 3] = (seen[bit >>> 3] ?? 0) | (1 << (bit & 7))
  return seen
}

export const isSeen = ({ seen }: Pick<LanguageModel, 'seen'>, hash: number): boolean =>
  bitsOf(hash).every((bit) => ((seen[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0)

const bitsOf = (hash: number): readonly number[] => [hash % (seenBytes * 8), (hash >>> 13) % (seenBytes * 8)]

/** A raw score becomes `1 / (1 + e^(-slope (raw - threshold)))`. */
export type LanguageHeadHeader = {
  readonly bias: number
  readonly scale: number
  readonly slope: number
  readonly threshold: number
}

type Header = Pick<LanguageModel, 'heads' | 'sources'> & { readonly hashVersion: number }

const digestBytes = 32

export function encodeLanguageModel({ sources, heads, weights, seen }: Omit<LanguageModel, 'digest'>): Uint8Array {
  const header: Header = { hashVersion, sources, heads }
  const body = Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), new Uint8Array(weights.buffer), seen])
  return Buffer.concat([body, createHash('sha256').update(body).digest()])
}

/** Throws if the file is damaged or made for another hashing version. */
export function decodeLanguageModel(file: Uint8Array): LanguageModel {
  const body = Buffer.from(file.buffer, file.byteOffset, file.byteLength - digestBytes)
  const digest = createHash('sha256').update(body).digest()
  const headerEnd = body.indexOf('\n')
  if (!digest.equals(file.subarray(body.byteLength)) || headerEnd < 0) throw new Error('The language model is damaged.')
  const header: Header = JSON.parse(body.toString('utf8', 0, headerEnd))
  if (header.hashVersion !== hashVersion) throw new Error('The language model was made for another hashing version.')
  const numbers = body.subarray(headerEnd + 1)
  if (numbers.length !== slots * languageHeads.length + seenBytes)
    throw new Error('The language model has another size.')
  const weights = new Int8Array(new Uint8Array(numbers.subarray(0, -seenBytes)).buffer)
  const seen = new Uint8Array(numbers.subarray(-seenBytes))
  return { sources: header.sources, heads: header.heads, weights, seen, digest: digest.toString('hex') }
}
