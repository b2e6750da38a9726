import fc from 'fast-check'
import type { Detector } from '../../src/domain/scan/detect/detector.ts'

/** The lengths of chunks, used in rotation. */
export const cutting = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 })

export function chunksOf(text: string, lengths: readonly number[]): readonly string[] {
  const chunks: string[] = []
  for (let at = 0; at < text.length;) {
    const length = lengths[chunks.length % lengths.length] ?? 1
    chunks.push(text.slice(at, at + length))
    at += length
  }
  return chunks
}

export type DetectorReport = { readonly text: string; readonly matched: number; readonly settledTo: number }

/** What the detector reports after each chunk. */
export function reportsOf(detector: Detector, chunks: readonly string[]): readonly DetectorReport[] {
  let text = ''
  return chunks.map((chunk) => {
    text += chunk
    detector.push(chunk, text)
    return { text, matched: detector.matched(), settledTo: detector.settledTo() }
  })
}
