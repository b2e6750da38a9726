/** Splits long texts into slices, so that a scan can yield to the event loop. Slices overlap, so that no match is lost at a cut. */
import { createWordEnd } from './word-end.ts'

export type TextSlice = { readonly text: string; readonly start: number }

export const sliceCharacters = 8_192
export const overlapCharacters = 1_536

export function slicesOf(text: string): readonly TextSlice[] {
  if (text.length <= sliceCharacters) return [{ text, start: 0 }]
  const slices: TextSlice[] = []
  const wordEnd = createWordEnd()
  for (let start = 0; start < text.length;) {
    const isLast = text.length - start <= sliceCharacters
    const end = isLast ? text.length : wordEnd(text, start + sliceCharacters)
    slices.push({ text: text.slice(start, end), start })
    if (isLast) break
    start = wordEnd(text, end - overlapCharacters)
  }
  return slices
}
