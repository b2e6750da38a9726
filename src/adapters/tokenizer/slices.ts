/** The part of some texts that is tokenized, in slices. Other callers are served between two slices. */
export type CountPlan = {
  readonly slices: readonly (readonly string[])[]
  /** Size of the texts divided by the size of the slices; 1 if all of them are tokenized. */
  readonly scale: number
}

/** Above this total length texts are sampled, which bounds the cost of one call. */
const maxCharacters = 100_000
const sampleCharacters = 1_024
const sampleCount = 96
/** A slice takes at most about twenty milliseconds, for the slowest script. */
const sliceCharacters = 4_096
/** Bounds the texts per slice, because each has a fixed cost. */
const sliceTexts = 128
/** How far before the end of a slice a cut is searched that splits no token. */
const cutWindow = 256

export function planCount(texts: readonly string[]): CountPlan {
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  if (characters <= maxCharacters) return { slices: slicesOf(texts), scale: 1 }
  const sample = sampleOf(texts, characters)
  return { slices: slicesOf(sample), scale: bytesOf(texts) / bytesOf(sample) }
}

/**
 * Samples the concatenated texts: one window in each of `sampleCount` equal parts. The position within the part varies, so that a
 * periodic text is not sampled at the same phase each time. The golden ratio spreads the positions evenly, and the sample of a
 * text is deterministic.
 */
function sampleOf(texts: readonly string[], characters: number): readonly string[] {
  const part = characters / sampleCount
  const sample: string[] = []
  let at = 0
  let textStart = 0
  for (let number = 0; number < sampleCount; number++) {
    const jitter = (number * 0.618_033_988_75) % 1
    let from = Math.floor(part * number + jitter * (part - sampleCharacters))
    const end = from + sampleCharacters
    for (let text = texts[at]; text !== undefined && from < end; text = texts[at]) {
      const taken = text.slice(Math.max(0, from - textStart), end - textStart)
      if (taken !== '') sample.push(taken)
      if (textStart + text.length > end) break
      textStart += text.length
      from = Math.max(from, textStart)
      at += 1
    }
  }
  return sample
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

function slicesOf(texts: readonly string[]): readonly (readonly string[])[] {
  const slices: string[][] = []
  let slice: string[] = []
  let left = sliceCharacters
  for (const text of texts) {
    for (let from = 0; from < text.length;) {
      const to = text.length - from <= left ? text.length : cutBefore(text, from + left)
      slice.push(text.slice(from, to))
      left -= to - from
      from = to
      if (left > cutWindow && slice.length < sliceTexts) continue
      slices.push(slice)
      slice = []
      left = sliceCharacters
    }
  }
  if (slice.length > 0) slices.push(slice)
  return slices
}

/** Cuts before a single space between two words, which no token spans; otherwise between two characters. */
function cutBefore(text: string, end: number): number {
  for (let at = end; at > end - cutWindow; at--) {
    if (text.charCodeAt(at) === space && !isSpace(text, at - 1) && !isSpace(text, at + 1)) return at
  }
  return isLowSurrogate(text.charCodeAt(end)) ? end - 1 : end
}

const space = 32
const isSpace = (text: string, at: number): boolean => /\s/.test(text.charAt(at))
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff
