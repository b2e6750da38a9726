/** Folds the characters of a streamed text chunk by chunk, and maps positions in the folded text back to its source. */
import { endsInHighSurrogate } from '../../../domain/scan/normalise/code-units.ts'
import { foldCodePoint } from '../../../domain/scan/normalise/confusables.ts'
import { firstHomoglyph, foldCharacters, isAscii } from '../../../domain/scan/normalise/normalise.ts'

export type StreamFolding = {
  /** The folded form of the next chunk, except that ASCII keeps its case. Half of a surrogate pair waits for the other half. */
  fold(chunk: string): string
  /** Counts a chunk of ASCII, which need not be folded. */
  skip(characters: number): void
  /** The folded form of what still waits when the text ends. */
  end(): string
  /** True if half of a surrogate pair waits. */
  isWaiting(): boolean
  /** Position in the folded text of the first letter that depends on the text around it. */
  contextFrom(): number
  /** The start, in the source, of the character at this position. */
  startOf(folded: number): number
  /** The end, in the source, of the character before this position. */
  endOf(folded: number): number
}

/** A character whose folded form has another length. */
type Resized = { readonly from: number; readonly to: number; readonly sourceStart: number; readonly sourceEnd: number }

/** How many such characters are kept. Only positions near the end are asked for. */
const maxKept = 1_024
/** A position after every text. */
export const noPosition = 0x7fffffff

export function createStreamFolding(): StreamFolding {
  let resized: Resized[] = []
  /** Length of the folded text. */
  let length = 0
  let half = ''
  let contextFrom = noPosition

  function startOf(folded: number): number {
    const last = resized.findLast(({ from, to }) => from < folded || to <= folded)
    if (last === undefined) return folded
    return folded < last.to ? last.sourceStart : last.sourceEnd + folded - last.to
  }

  function noteResized(part: string): void {
    let at = length
    let source = startOf(length)
    for (const letter of part) {
      const code = letter.codePointAt(0) ?? 0
      const width = code < 0x80 ? 1 : foldCodePoint(code).length
      if (width !== letter.length)
        resized.push({ from: at, to: at + width, sourceStart: source, sourceEnd: source + letter.length })
      at += width
      source += letter.length
    }
    if (resized.length > maxKept) resized = resized.slice(-maxKept / 2)
  }

  function foldWhole(part: string): string {
    noteResized(part)
    const folded = foldCharacters(part)
    const homoglyph = contextFrom === noPosition ? firstHomoglyph(folded) : -1
    if (homoglyph >= 0) contextFrom = length + homoglyph
    length += folded.length
    return folded
  }

  return {
    fold(chunk) {
      if (half === '' && isAscii(chunk)) {
        length += chunk.length
        return chunk
      }
      const joined = half + chunk
      half = endsInHighSurrogate(joined) ? joined.slice(-1) : ''
      return foldWhole(half === '' ? joined : joined.slice(0, -1))
    },
    skip: (characters) => void (length += characters),
    end() {
      const rest = half
      half = ''
      return foldWhole(rest)
    },
    isWaiting: () => half !== '',
    contextFrom: () => contextFrom,
    startOf,
    endOf(folded) {
      const last = resized.findLast(({ from }) => from < folded)
      if (last === undefined) return folded
      return folded < last.to ? last.sourceEnd : last.sourceEnd + folded - last.to
    },
  }
}
