import type { Span } from '../normalise/normalise.ts'
import type { SearchDetector } from './detector.ts'

/** The port to a regular-expression engine that takes linear time for every pattern. */
export type PatternEngine = {
  /** Throws an Error that describes the fault in the pattern. */
  compile(source: string, options: PatternOptions): Pattern
  /** Compiles patterns that `compile` accepts into one, to search for all of them in one pass. */
  compileSet(patterns: readonly SourcePattern[]): PatternSet
}

type PatternOptions = { readonly ignoreCase: boolean }

export type SourcePattern = PatternOptions & { readonly source: string }

export type Pattern = {
  /** Upper bound of the steps per character of text. */
  readonly size: number
  /** True if a match depends on the start or end of the text or of a line: a part of a text may match although the text does not. */
  readonly isAnchored: boolean
  find(text: string): Span | undefined
}

export type PatternSet = {
  startDetector(): SearchDetector
}
