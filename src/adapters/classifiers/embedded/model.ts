import type { Category } from '../../../domain/moderation/categories.ts'
import type { TextDirection } from '../../../domain/moderation/classifier.ts'
import type { LexiconTables } from './lexicon.ts'

/**
 * What is learnt from examples: five categories, and `abuse`, which knows requests about the abuse of children.
 * The category `sexual/minors` is composed of it, of the sexual head and of cues of age.
 */
export const heads = ['sexual', 'hate', 'harassment', 'self-harm', 'illicit', 'abuse'] as const
export type ClassifierHead = (typeof heads)[number]

/** A trained model as it stands in memory. */
export type ClassifierModel = {
  readonly header: ModelHeader
  /** Hashes of the features kept, ascending. */
  readonly features: Uint32Array
  /** One byte per feature and head; times the head's scale it is the weight. */
  readonly weights: Int8Array
  /** Hashes of the words known, the most common first. */
  readonly vocabulary: Uint32Array
  readonly lexicon: LexiconTables
  /** SHA-256 of the file, in hex. */
  readonly digest: string
}

export type ModelHeader = {
  readonly version: string
  readonly hashVersion: number
  /** Names of the lexicon's lists; bit n of a mask is list n. */
  readonly lists: readonly string[]
  /** Lists whose meeting within a few words is a feature of its own. */
  readonly pairs: readonly (readonly [string, string])[]
  readonly heads: Readonly<Record<ClassifierHead, HeadHeader>>
  readonly minors: Composition
  readonly calibration: Readonly<Record<Category, Calibration>>
}

export type HeadHeader = {
  readonly bias: number
  readonly scale: number
  /** Weights of the lists, then of the pairs. */
  readonly lists: readonly number[]
  /** Buckets per window. */
  readonly window: number
  /** Lists by number, in groups: where a window holds no word of one of the groups, the head stays far from its threshold. */
  readonly evidence: readonly (readonly number[])[]
}

/** How `sexual/minors` is composed: the sexual score that is enough beside a cue of age, and the abuse score that is enough alone. */
export type Composition = { readonly besideCue: number; readonly abuse: number }

/** A raw score becomes `1 / (1 + e^(-slope (raw - threshold)))`: one half at the threshold. */
export type Calibration = { readonly slope: number; readonly thresholds: Readonly<Record<TextDirection, number>> }
