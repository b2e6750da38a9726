/** What of some texts is tokenized, cut into slices between which other callers are served. */
export type CountPlan = {
  readonly slices: readonly (readonly string[])[]
  /** How many times as long the texts are as the slices: 1 where all of them is tokenized. */
  readonly scale: number
}

/** Texts of more characters than this, all together, are sampled: it bounds what one call costs the thread. */
const maxCharacters = 100_000
const sampleCharacters = 1_024
const sampleCount = 96
/** A slice takes at most some twenty milliseconds, for the slowest script. */
const sliceCharacters = 4_096
/** Each text has a cost of its own, however short it is. */
const sliceTexts = 128
/** How far before the end of a slice a place is looked for where the cut changes no token. */
const cutWindow = 256

export function planCount(texts: readonly string[]): CountPlan {
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  if (characters <= maxCharacters) return { slices: slicesOf(texts), scale: 1 }
  const sample = sampleOf(texts, characters)
  return { slices: slicesOf(sample), scale: bytesOf(texts) / bytesOf(sample) }
}

/**
 * Windows of the texts as if they stood in one row, one in each of as many equal parts. The place within its part differs
 * from window to window, so that a text that repeats itself is not met at the same place each time. The golden ratio
 * spreads the places evenly, and the same text always has the same sample.
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

/** Before a single space between two words, where the vocabulary never joins; else between two characters. */
function cutBefore(text: string, end: number): number {
  for (let at = end; at > end - cutWindow; at--) {
    if (text.charCodeAt(at) === space && !isSpace(text, at - 1) && !isSpace(text, at + 1)) return at
  }
  return isLowSurrogate(text.charCodeAt(end)) ? end - 1 : end
}

const space = 32
const isSpace = (text: string, at: number): boolean => /\s/.test(text.charAt(at))
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff
