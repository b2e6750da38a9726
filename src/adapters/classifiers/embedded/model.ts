import type { Category } from '../../../domain/scan/classify/categories.ts'
import type { HoldBackBounds, TextDirection } from '../../../domain/scan/classify/classifier.ts'

/**
 * The heads that are trained on examples: five categories, and `abuse`, which detects requests about child abuse. The category
 * `sexual/minors` is composed of it, of the sexual head and of evidence of age.
 */
export const heads = ['sexual', 'hate', 'harassment', 'self-harm', 'illicit', 'abuse'] as const
export type ClassifierHead = (typeof heads)[number]

/** A trained model in memory. */
export type ClassifierModel = {
  readonly header: ModelHeader
  /** Hashes of the features, ascending. */
  readonly features: Uint32Array
  /** One byte per feature and head; multiplied by the scale of the head it is the weight. */
  readonly weights: Int8Array
  /** Hashes of the known words, in the order of frequency. */
  readonly vocabulary: Uint32Array
  readonly lexicon: LexiconTables
  /** SHA-256 of the file, in hexadecimal. */
  readonly digest: string
}

export type ModelHeader = {
  readonly version: string
  readonly hashVersion: number
  /** Names of the word lists; bit n of a mask is list n. */
  readonly lists: readonly string[]
  /** Pairs of lists whose co-occurrence within a few words is a feature. */
  readonly pairs: readonly (readonly [string, string])[]
  readonly heads: Readonly<Record<ClassifierHead, HeadHeader>>
  readonly minors: Composition
  readonly calibration: Readonly<Record<Category, Calibration>>
  readonly holdBack: HoldBackBounds
}

export type HeadHeader = {
  readonly bias: number
  readonly scale: number
  /** Weights of the lists, then of the pairs. */
  readonly lists: readonly number[]
  /** Buckets per window. */
  readonly window: number
  /** Groups of list numbers. If a window has no word of one of the groups, the head stays far below its threshold. */
  readonly evidence: readonly (readonly number[])[]
}

/** How `sexual/minors` is composed. */
export type Composition = {
  /** The sexual score required if evidence of age is near a sexual word, and the one required if it is further away. */
  readonly besideCue: number
  readonly farFromCue: number
  /** The abuse score that is sufficient alone. */
  readonly abuse: number
}

/** A raw score becomes `1 / (1 + e^(-slope (raw - threshold)))`: 0.5 at the threshold. */
export type Calibration = { readonly slope: number; readonly thresholds: Readonly<Record<TextDirection, number>> }

/** The word lists in a model file: hashes, each with a bit mask of lists. */
export type LexiconTables = {
  readonly words: ReadonlyMap<number, number>
  /** Prefixes: any ending may follow. */
  readonly stems: ReadonlyMap<number, number>
  readonly phrases: ReadonlyMap<number, number>
  /** Lengths of the phrases that end with a word, as a bit mask: bit 2 for two words, and so on. */
  readonly phraseLengths: ReadonlyMap<number, number>
}
