import type { Span } from './normalise.ts'

/** The port to a regular-expression engine whose time grows with the text alone, whatever the pattern. */
export type PatternEngine = {
  /** Throws an Error that says what is wrong with the pattern. */
  compile(source: string, options: { readonly ignoreCase: boolean }): Pattern
}

export type Pattern = {
  /** Steps that it has at most to take for one character: how long a text takes at worst. */
  readonly size: number
  find(text: string): Span | undefined
}
