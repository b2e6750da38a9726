/** Folds a single non-ASCII character, independently of the characters around it. */

/** Combining marks that are decoration or optional: accents, Hebrew points, Arabic vowels. */
const markRanges: readonly (readonly [first: number, last: number])[] = [
  [0x0300, 0x036f],
  [0x0483, 0x0489],
  [0x0591, 0x05bd],
  [0x05bf, 0x05c7],
  [0x0610, 0x061a],
  [0x064b, 0x065f],
  [0x0670, 0x0670],
  [0x06d6, 0x06ed],
  [0x1ab0, 0x1aff],
  [0x1dc0, 0x1dff],
  [0x20d0, 0x20ff],
  [0xfe20, 0xfe2f],
]

function isMark(letter: string): boolean {
  const code = letter.codePointAt(0) ?? 0
  return markRanges.some(([first, last]) => code >= first && code <= last)
}

/** Invisible characters: zero-width ones, direction marks, soft hyphens, variation selectors, tags, fillers. */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu

/** Confusable characters that Unicode's compatibility normalisation keeps distinct. */
const confusables: ReadonlyMap<string, string> = new Map([
  ...pairsOf('‘’‚‛′ʼ＇`´', "'"),
  ...pairsOf('“”„‟″«»', '"'),
  ...pairsOf('‐‑‒–—―−⁃', '-'),
  ...pairsOf('∕⁄', '/'),
  // Punctuation of Arabic, Urdu and Hindi. The classifier would count it as letters of the word before it.
  ...pairsOf('،٬', ','),
  ...pairsOf('؛', ';'),
  ...pairsOf('؟', '?'),
  ...pairsOf('।॥۔', '.'),
  ...pairsOf('ıɩɪ', 'i'),
  ...pairsOf('łʟɭƚ', 'l'),
  ...pairsOf('øᴏɵ', 'o'),
  ...pairsOf('đɖðᴅ', 'd'),
  ...pairsOf('ɑᴀɐ', 'a'),
  ...pairsOf('ʙɓƀ', 'b'),
  ...pairsOf('ᴄƈ', 'c'),
  ...pairsOf('ᴇɇǝɛ', 'e'),
  ...pairsOf('ꜰƒ', 'f'),
  ...pairsOf('ɡɢɠ', 'g'),
  ...pairsOf('ʜħɦ', 'h'),
  ...pairsOf('ᴊɉ', 'j'),
  ...pairsOf('ᴋƙ', 'k'),
  ...pairsOf('ᴍɱ', 'm'),
  ...pairsOf('ɴƞɲ', 'n'),
  ...pairsOf('ᴘƥ', 'p'),
  ...pairsOf('ʀɍ', 'r'),
  ...pairsOf('ꜱʂ', 's'),
  ...pairsOf('ᴛŧƭ', 't'),
  ...pairsOf('ᴜʉ', 'u'),
  ...pairsOf('ᴠʋ', 'v'),
  ...pairsOf('ᴡ', 'w'),
  ...pairsOf('ʏɏƴ', 'y'),
  ...pairsOf('ᴢƶ', 'z'),
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['ß', 'ss'],
  ['þ', 'th'],
])

function pairsOf(letters: string, folded: string): [string, string][] {
  return [...letters].map((letter) => [letter, folded])
}

const maxCached = 16_384
const cache = new Map<number, string>()

/** The folded form of a code point: zero or more characters, in lower case. */
export function foldCodePoint(code: number): string {
  const cached = cache.get(code)
  if (cached !== undefined) return cached
  const folded = foldUncached(code)
  if (cache.size < maxCached) cache.set(code, folded)
  return folded
}

function foldUncached(code: number): string {
  const enclosed = enclosedLetter(code)
  if (enclosed !== undefined) return enclosed
  const plain = String.fromCodePoint(code).normalize('NFKD').toLowerCase().replace(invisible, '')
  const letters = [...plain].filter((letter) => !isMark(letter))
  return letters.map((letter) => confusables.get(letter) ?? letter).join('')
}

/** Letters in circles, boxes, brackets and flags. People write words with them, but Unicode classifies them as symbols. */
function enclosedLetter(code: number): string | undefined {
  for (const first of [0x249c, 0x1f110, 0x1f130, 0x1f150, 0x1f170, 0x1f1e6]) {
    if (code >= first && code < first + 26) return String.fromCharCode(97 + code - first)
  }
  return undefined
}
