/** Scores complete texts with the kernel: one raw score per category. */
import type { PerCategory } from '../../../domain/scan/classify/categories.ts'
import { normalise } from '../../../domain/scan/normalise/normalise.ts'
import type { Address, Kernel } from './kernel/load.ts'

/** Raw scores: any number, comparable only within a category. */
export type RawScores = PerCategory<number>

/** The raw score of a text without words. */
const scoreWithoutWords = -20
/** Buckets of a state that is enough for a slice of a text. A bucket has 48 words, and a word at least one character. */
const sliceBuckets = 256
const fewestBucketCharacters = 48
/** A complete text is scored as a whole only. */
const noDecision = -1

export type TextScorer = (text: string) => RawScores

export function createTextScorer(kernel: Kernel): TextScorer {
  let buckets = sliceBuckets
  let state = kernel.allocate(kernel.stateBytes(buckets))

  function reserve(characters: number): void {
    const needed = Math.ceil(characters / fewestBucketCharacters) + 1
    if (needed <= buckets) return
    buckets = 2 ** Math.ceil(Math.log2(needed))
    state = kernel.allocate(kernel.stateBytes(buckets))
  }

  function begin(characters: number): void {
    reserve(characters)
    kernel.begin(state, buckets, noDecision)
  }

  return (text) => {
    begin(text.length)
    if (!readAscii(kernel, state, text)) {
      const normal = normalise(text)
      begin(normal.length)
      for (const part of partsOf(kernel, normal)) readPart(kernel, state, part)
    }
    kernel.read(state, 0, 1)
    return scoresOf(kernel, state)
  }
}

/** Returns false if the text is not ASCII. */
function readAscii(kernel: Kernel, state: Address, text: string): boolean {
  return partsOf(kernel, text).every((part) => {
    const isAscii = writeAscii(kernel, part)
    if (isAscii) kernel.readAscii(state, part.length)
    return isAscii
  })
}

/** Parts that the kernel can read at once. */
function partsOf({ maxPush }: Kernel, text: string): readonly string[] {
  if (text.length <= maxPush) return [text]
  return Array.from({ length: Math.ceil(text.length / maxPush) }, (_, at) =>
    text.slice(at * maxPush, (at + 1) * maxPush),
  )
}

/** Reads a part of a text in normal form, except that ASCII may have upper case. Returns the number of decision points passed. */
export function readPart(kernel: Kernel, state: Address, part: string): number {
  if (writeAscii(kernel, part)) return kernel.readAscii(state, part.length)
  kernel.view.bytes.write(part, kernel.text, 'utf16le')
  return kernel.read(state, part.length, 0)
}

/** Writes a text to the kernel's input. Returns false if it is not ASCII. */
export function writeAscii({ view, ascii }: Kernel, text: string): boolean {
  if (text.length > 24) return view.bytes.write(text, ascii, text.length + 8, 'utf8') === text.length
  let all = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    all |= code
    view.bytes[ascii + at] = code
  }
  return all < 128
}

/** The scores of the complete text in `state`. Heads have the order of `heads` in `model.ts`. */
export function scoresOf(kernel: Kernel, state: Address): RawScores {
  const minors = kernel.finish(state)
  return {
    'self-harm': gatherHead(kernel, 3),
    'sexual/minors': Math.max(minors, gatherHead(kernel, 5) - kernel.sufficientAbuse),
    harassment: gatherHead(kernel, 2),
    hate: gatherHead(kernel, 1),
    illicit: gatherHead(kernel, 4),
    sexual: gatherHead(kernel, 0),
  }
}

/** Scores that the kernel wrote, in the order of `heads`, with `sexual/minors` in the place of `abuse`. */
export function categoryScoresAt({ view }: Kernel, address: Address): RawScores {
  const { floats } = view
  const first = address >> 3
  return {
    'self-harm': floats[first + 3] ?? 0,
    'sexual/minors': floats[first + 5] ?? 0,
    harassment: floats[first + 2] ?? 0,
    hate: floats[first + 1] ?? 0,
    illicit: floats[first + 4] ?? 0,
    sexual: floats[first] ?? 0,
  }
}

/**
 * Combines the scores of a head's windows to one: the mean of their likelihoods, but at most one unit below the highest. A long
 * harmless text is not blocked for one unusual window, and a harmful passage is not diluted.
 */
function gatherHead({ view, headWindows }: Kernel, head: number): number {
  const { floats, numbers } = view
  const count = numbers[(headWindows >> 2) + head * 2] ?? 0
  if (count === 0) return scoreWithoutWords
  const first = (numbers[(headWindows >> 2) + head * 2 + 1] ?? 0) >> 3
  let highest = -Infinity
  for (let at = first; at < first + count; at++) highest = Math.max(highest, floats[at] ?? 0)
  if (count === 1) return highest
  let sum = 0
  for (let at = first; at < first + count; at++) sum += Math.exp((floats[at] ?? 0) - highest)
  return highest + Math.max(-1, Math.log(sum / count))
}
