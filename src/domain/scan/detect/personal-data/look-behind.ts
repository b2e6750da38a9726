/** How far before a match its label may begin. A stream keeps this much of the text it has emitted. */
export const longestLabel = 48

/** The text before a position in which labels are searched. */
export const textBefore = (text: string, at: number): string => text.slice(Math.max(0, at - longestLabel), at)

/** End of the match of a sticky pattern at `start`, or -1. */
export function endOfMatch(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start
  return pattern.test(text) ? pattern.lastIndex : -1
}
