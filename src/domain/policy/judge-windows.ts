/** Cuts a text into the windows that a judge evaluates one by one. They depend on the text alone, and on no text after them. */
import { endsInHighSurrogate } from '../scan/normalise/code-units.ts'
import type { Span } from '../scan/normalise/normalise.ts'

export type JudgeTextWindow = Span & {
  /** The position up to which the text must be known to find the end of the window. */
  readonly knownAt: number
}

/** A shorter paragraph is judged together with the next one, so that a list of short lines needs few calls. */
const minCharacters = 400
/** A longer paragraph is cut at the end of a sentence or word. */
const maxCharacters = 1_200
/** Windows of one text. All text after them is the last window. */
export const maxJudgeWindows = 64

const blankLine = /\n[ \t\r]*\n/g
const sentenceEnd = /[.!?…。！？]["'”’)\]]*\s/g
const whiteSpace = /\s/g

/** The complete window that begins at `start`; undefined if it may still grow. */
export function judgeWindowFrom(text: string, start: number): JudgeTextWindow | undefined {
  const part = text.slice(start, start + maxCharacters)
  for (const { 0: line, index } of part.matchAll(blankLine)) {
    const end = index + line.length
    if (end >= minCharacters) return { start, end: start + end, knownAt: start + end }
  }
  if (part.length < maxCharacters) return undefined
  const end = lastEnd(part, sentenceEnd) ?? lastEnd(part, whiteSpace) ?? wholeCharacters(part)
  return { start, end: start + end, knownAt: start + maxCharacters }
}

/** The end of the last match in the second half. */
function lastEnd(part: string, pattern: RegExp): number | undefined {
  const ends = [...part.matchAll(pattern)].map(({ 0: match, index }) => index + match.length)
  return ends.findLast((end) => end >= maxCharacters / 2)
}

/** The length without half of a surrogate pair at the end. */
const wholeCharacters = (part: string): number => (endsInHighSurrogate(part) ? part.length - 1 : part.length)

/** All windows of a complete text. */
export function judgeWindowsOf(text: string): readonly string[] {
  const windows: string[] = []
  let start = 0
  while (windows.length < maxJudgeWindows) {
    const window = judgeWindowFrom(text, start)
    if (window === undefined) break
    windows.push(text.slice(start, window.end))
    start = window.end
  }
  return start < text.length ? [...windows, text.slice(start)] : windows
}
