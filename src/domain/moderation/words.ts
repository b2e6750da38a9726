/** Which characters make up words, once text is in its normal form. */

const wordLike = /[\p{L}\p{M}\p{N}]/u
/** Scripts that write words without spaces between them: there a boundary would never be found. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

const unknown = 0
const outside = 1
const inside = 2
const kinds = new Uint8Array(0x10000).fill(unknown)

/** Whether a boundary is needed between this character and a term: letters, digits and their marks. */
export function isWordCode(code: number): boolean {
  const kind = kinds[code]
  return kind === unknown ? learn(code) : kind === inside
}

function learn(code: number): boolean {
  const letter = String.fromCharCode(code)
  const isInside = wordLike.test(letter) && !unspaced.test(letter)
  kinds[code] = isInside ? inside : outside
  return isInside
}
