/** Splits text in normal form into tokens, as they were written. */

const outside = 0
const letter = 1
/** Symbols that stand for letters inside words: `don't`, `k!ll`, `f*ck`. */
const joint = 2
const dollar = 3
/** Letters of Chinese and Japanese. Each is a token, because these languages put no spaces between words. */
const ideograph = 4

const kinds = new Uint8Array(128)
for (let code = 48; code <= 57; code++) kinds[code] = letter
for (let code = 97; code <= 122; code++) kinds[code] = letter
for (const sign of "'*@!|+") kinds[sign.charCodeAt(0)] = joint
kinds['$'.charCodeAt(0)] = dollar

/** Every other non-ASCII character counts as a letter except punctuation, symbols and surrogates of emoji. */
function kindOf(code: number): number {
  if (code < 128) return kinds[code] ?? outside
  if (code < 0xc0 || (code >= 0x2000 && code < 0x2e80) || (code >= 0x3000 && code < 0x3040)) return outside
  if (code >= 0x3040 && code < 0xa000) return isIdeograph(code) ? ideograph : letter
  return code < 0xd800 || code >= 0xf900 ? letter : outside
}

/** Kana and Han characters. */
const isIdeograph = (code: number): boolean => code < 0x3100 || code >= 0x3400

/** Marks that follow a kana. */
const isVoicingMark = (code: number): boolean => code === 0x3099 || code === 0x309a

export type TokenVisitor = {
  /** A token from `start` to `end`. */
  word(token: string, start: number, end: number): void
  /** Letters written one by one, from `start` to `end`: `k i l l`, `k.i.l.l`. */
  spacedLetters(letters: string, start: number, end: number): void
}

/** Maximum length of a token. */
const longestWordToken = 32
const maxSpacedLetters = 200
/** Zeros after the text, for looking ahead at its end. */
const lookAhead = 4

export function visitTokens(text: string, visitor: TokenVisitor): void {
  const codes = Uint16Array.from({ length: text.length + lookAhead }, (_, at) => text.charCodeAt(at))
  let isSpelling = false
  for (let at = 0; at < text.length;) {
    const kind = kindOf(codes[at] ?? 0)
    if (kind === ideograph) {
      const end = isVoicingMark(codes[at + 1] ?? 0) ? at + 2 : at + 1
      visitor.word(text.slice(at, end), at, end)
      isSpelling = false
      at = end
      continue
    }
    const isStart = kind === letter || (kind === dollar && kindOf(codes[at + 1] ?? 0) === letter)
    if (!isStart) {
      at += 1
      continue
    }
    const end = endOfToken(codes, at, Math.min(text.length, at + longestWordToken))
    const spacedEnd: number = end === at + 1 ? endOfSpacedLetters(codes, at, isSpelling ? 2 : 3) : end
    if (spacedEnd > end) visitor.spacedLetters(everySecond(text, at, spacedEnd), at, spacedEnd)
    else visitor.word(text.slice(at, end), at, end)
    isSpelling = spacedEnd > end || (isSpelling && end === at + 1)
    at = spacedEnd
  }
}

function endOfToken(codes: Uint16Array, start: number, last: number): number {
  let at = start + 1
  while (at < last) {
    const code = codes[at] ?? 0
    const kind = kindOf(code)
    if (kind === outside || kind === ideograph) break
    if (kind === joint) {
      const next = codes[at + 1] ?? 0
      if (kindOf(next) !== letter && next !== code) break
    }
    at += 1
  }
  return at
}

/**
 * End of a run of at least `fewest` single letters with the same separator; `start + 1` if there is none. Two letters are enough after
 * another such run, because a text that is spelled out has short words too.
 */
function endOfSpacedLetters(codes: Uint16Array, start: number, fewest: number): number {
  const separator = codes[start + 1]
  let at = start
  while (
    at - start < maxSpacedLetters * 2 &&
    codes[at + 1] === separator &&
    isSpelled(codes[at + 2] ?? 0) &&
    kindOf(codes[at + 3] ?? 0) !== letter
  ) {
    at += 2
  }
  return at - start >= (fewest - 1) * 2 ? at + 1 : start + 1
}

/** A letter, or the apostrophe of a word such as `d o n ' t`. */
const isSpelled = (code: number): boolean => kindOf(code) === letter || code === apostrophe
const apostrophe = "'".charCodeAt(0)

function everySecond(text: string, start: number, end: number): string {
  let letters = ''
  for (let at = start; at < end; at += 2) letters += text[at]
  return letters
}
