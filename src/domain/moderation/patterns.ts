import type { Span } from './normalise.ts'

/** The port to a regular-expression engine that takes linear time for every pattern. */
export type PatternEngine = {
  /** Throws an Error that describes the fault in the pattern. */
  compile(source: string, options: { readonly ignoreCase: boolean }): Pattern
}

export type Pattern = {
  /** Upper bound of the steps per character of text. */
  readonly size: number
  find(text: string): Span | undefined
}
