/** The sizes of the windows in which a long text is read, in word pieces. */
export type WindowSizes = {
  /** With the marks at start and end. */
  readonly windowTokens: number
  /** From the start of a window to the start of the next. */
  readonly strideTokens: number
}

/** Overlapping windows, the last of which ends with the text. A short text has one. */
export function windowsOf(ids: readonly number[], { windowTokens, strideTokens }: WindowSizes): (readonly number[])[] {
  const size = windowTokens - 2
  if (ids.length <= size) return [ids]
  const count = Math.ceil((ids.length - size) / strideTokens)
  const starts = Array.from({ length: count }, (_, at) => at * strideTokens)
  return [...starts, ids.length - size].map((start) => ids.slice(start, start + size))
}
