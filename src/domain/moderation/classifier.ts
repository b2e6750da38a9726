import { andThen, sequentially, type MaybePromise } from '../../base/maybe-promise.ts'
import type { Span } from './normalise.ts'
import { perCategory } from './categories.ts'
import type { Category, PerCategory } from './categories.ts'

/** Text on its way to a model, or on its way back. */
export type TextDirection = 'request' | 'response'

/**
 * The port to whatever judges a text: the embedded model, a remote moderation endpoint, a judge.
 * A classifier that cannot answer throws; it never reports a text that it did not read as harmless.
 */
export type Classifier = {
  readonly identity: ClassifierIdentity
  classify(text: string, direction: TextDirection): MaybePromise<Classification>
  /** For a text that grows, where what was read of it need not be read again. */
  follow?(direction: TextDirection): ClassifyStretch
}

/** Judges a stretch of a growing text as `classify` would. Each text begins with the one before it. */
export type ClassifyStretch = (text: string, stretch: Span) => MaybePromise<Classification>

/** What an audit event says about who judged. */
export type ClassifierIdentity = { readonly id: string; readonly version: string; readonly digest: string }

export type Classification = {
  /** 0 to 1, calibrated so that one half is where the default verdict turns. */
  readonly scores: PerCategory<number>
  /** The categories whose score reached the threshold of this direction. */
  readonly flagged: readonly Category[]
  /** Somebody who knows better should have judged, and could not: it holds for now, and is not remembered. */
  readonly isProvisional?: boolean
}

/** The default verdict turns here, in every category and in both directions. */
export const verdictScore = 0.5

/** The strongest of two classifications: of two slices of a text, or by two classifiers. */
export function strongest(first: Classification, second: Classification): Classification {
  return {
    scores: perCategory((category) => Math.max(first.scores[category], second.scores[category])),
    flagged: [...new Set([...first.flagged, ...second.flagged])],
    isProvisional: first.isProvisional === true || second.isProvisional === true,
  }
}

/** The strongest of one classification and those of more texts, one after the other. */
export function withAll<T>(
  first: Classification,
  others: readonly T[],
  classify: (other: T) => MaybePromise<Classification>,
): MaybePromise<Classification> {
  let all = first
  const add = (one: Classification): unknown => (all = strongest(all, one))
  return andThen(
    sequentially(others, (other) => andThen(classify(other), add)),
    () => all,
  )
}

/** How far the closest of these categories is from its verdict, in log-odds: 0 at the threshold, negative below it. */
export function closest({ scores }: Pick<Classification, 'scores'>, among: ReadonlySet<Category>): number {
  let highest = -Infinity
  for (const category of among) highest = Math.max(highest, Math.log(scores[category] / (1 - scores[category])))
  return highest
}
