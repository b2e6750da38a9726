import { createWordEnd } from '../normalise/word-end.ts'

/** About as much as the encoder reads at once. */
const windowCharacters = 1_000
/** So that no passage is divided by a cut. */
const overlapCharacters = 250
/** A text that is little longer than a window is one window. */
const longestWindow = windowCharacters + overlapCharacters

/** Cuts a complete text into windows for the encoder, at word boundaries. */
export function textWindows(text: string): readonly string[] {
  const wordEnd = createWordEnd()
  const windows: string[] = []
  let start = 0
  while (text.length - start > longestWindow) {
    const end = wordEnd(text, start + windowCharacters)
    windows.push(text.slice(start, end))
    start = wordEnd(text, end - overlapCharacters)
  }
  windows.push(text.slice(start))
  return windows
}
