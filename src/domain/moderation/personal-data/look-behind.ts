/** How far back a cue may stand. A stream must keep this much of what it has passed on. */
export const longestLabel = 48

/** The text shortly before a place, where cues are looked for. */
export const textBefore = (text: string, at: number): string => text.slice(Math.max(0, at - longestLabel), at)

/** Where a sticky pattern that is tried at `start` ends, or -1. */
export function endOfMatch(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start
  return pattern.test(text) ? pattern.lastIndex : -1
}
