/** Scores complete texts with the kernel: one raw score per category. */
import type { PerCategory } from '../../../domain/moderation/categories.ts'
import { isAscii, normalise } from '../../../domain/moderation/normalise.ts'
import type { Address, Kernel } from './kernel/load.ts'
import { heads } from './model.ts'
import type { ClassifierHead } from './model.ts'

/** Raw scores: any number, comparable only within a category. */
export type RawScores = PerCategory<number>

/** The raw score of a text without words. */
const scoreWithoutWords = -20
/** Buckets of a state that is enough for a slice of a text. A bucket has 48 words, and a word at least one character and a gap. */
const sliceBuckets = 128
const fewestBucketCharacters = 96
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

  return (text) => {
    const normal = isAscii(text) ? text : normalise(text)
    reserve(normal.length)
    kernel.begin(state, buckets, noDecision)
    readText(kernel, state, normal)
    kernel.read(state, 0, 1)
    return scoresOf(kernel, state)
  }
}

function readText(kernel: Kernel, state: Address, text: string): void {
  for (let at = 0; at < text.length; at += kernel.maxPush) {
    readPart(kernel, state, text.length <= kernel.maxPush ? text : text.slice(at, at + kernel.maxPush))
  }
}

/** Reads a part of a text in normal form, except that ASCII may have upper case. Returns the number of places passed. */
export function readPart(kernel: Kernel, state: Address, part: string): number {
  if (writeAscii(kernel, part)) return kernel.readAscii(state, part.length)
  kernel.view.bytes.write(part, kernel.text, 'utf16le')
  return kernel.read(state, part.length, 0)
}

/** Writes a text to the kernel's input. Returns false if it is not ASCII. */
function writeAscii({ view, ascii }: Kernel, text: string): boolean {
  if (text.length > 24) return view.bytes.write(text, ascii, text.length + 8, 'utf8') === text.length
  let all = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    all |= code
    view.bytes[ascii + at] = code
  }
  return all < 128
}

/** The scores of the complete text in `state`. */
export function scoresOf(kernel: Kernel, state: Address): RawScores {
  const minors = kernel.finish(state)
  const gathered = (head: ClassifierHead): number => gatherHead(kernel, state, heads.indexOf(head))
  return {
    'self-harm': gathered('self-harm'),
    'sexual/minors': Math.max(minors, gathered('abuse') - kernel.sufficientAbuse),
    harassment: gathered('harassment'),
    hate: gathered('hate'),
    illicit: gathered('illicit'),
    sexual: gathered('sexual'),
  }
}

/** Scores that the kernel wrote: one per head, and `sexual/minors` in the place of `abuse`. */
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
function gatherHead(kernel: Kernel, state: Address, head: number): number {
  const count = kernel.windowCount(state, head)
  if (count === 0) return scoreWithoutWords
  const { floats } = kernel.view
  const first = kernel.scoreOf(state, head, 0) >> 3
  let highest = -Infinity
  for (let at = first; at < first + count; at++) highest = Math.max(highest, floats[at] ?? 0)
  if (count === 1) return highest
  let sum = 0
  for (let at = first; at < first + count; at++) sum += Math.exp((floats[at] ?? 0) - highest)
  return highest + Math.max(-1, Math.log(sum / count))
}
