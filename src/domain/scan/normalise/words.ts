/** Word characters and white space of the normal form. */

const wordLike = /[\p{L}\p{M}\p{N}]/u
/** Scripts without spaces between words, in which no word boundary can be found. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

const unknown = 0
const outside = 1
const inside = 2
const kinds = new Uint8Array(0x10000).fill(unknown)

/** True for letters, digits and their marks: next to these a term needs a word boundary. */
export function isWordCode(code: number): boolean {
  const kind = kinds[code]
  return kind === unknown ? classifyCode(code) : kind === inside
}

function classifyCode(code: number): boolean {
  const letter = String.fromCharCode(code)
  const isInside = wordLike.test(letter) && !unspaced.test(letter)
  kinds[code] = isInside ? inside : outside
  return isInside
}

export const space = 0x20

export const isWhiteSpace = (code: number): boolean =>
  code === space || (code >= 0x09 && code <= 0x0d) || code === 0x85 || code === 0x2028 || code === 0x2029
