/** Longest run of one kind of character that the tokenizer is given: it needs quadratic time for a run. */
const maxRun = 256

const kinds = { letter: 0, space: 1, symbol: 2 } as const

/**
 * Cuts runs of letters, of white space and of symbols into pieces: fifty thousand letters in a row would otherwise stop
 * the thread for seconds. Texts without such runs come back as they are, and count the same.
 */
export function cutRuns(text: string): readonly string[] {
  const pieces: string[] = []
  let pieceStart = 0
  let runStart = 0
  let kind = -1
  for (let at = 0; at < text.length; at++) {
    const here = kindOf(text.charCodeAt(at))
    if (here !== kind) {
      kind = here
      runStart = at
    } else if (at - runStart >= maxRun) {
      pieces.push(text.slice(pieceStart, at))
      pieceStart = at
      runStart = at
    }
  }
  pieces.push(text.slice(pieceStart))
  return pieces
}

function kindOf(code: number): number {
  if (code === 32 || (code >= 9 && code <= 13) || code === 0xa0) return kinds.space
  const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code > 127
  return isLetter ? kinds.letter : kinds.symbol
}
