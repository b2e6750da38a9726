/** The most output tokens of a request. */
export type OutputLimit = {
  readonly tokens: number
  /** False if nobody set the limit. It is then sent only to an upstream whose format requires one. */
  readonly isExplicit: boolean
}

/** The limit together with another one that somebody set. `Infinity` is no limit. */
export const minOutput = (limit: OutputLimit, tokens: number): OutputLimit =>
  tokens === Infinity ? limit : { tokens: Math.min(limit.tokens, tokens), isExplicit: true }
