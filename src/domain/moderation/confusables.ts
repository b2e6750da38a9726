/** What one character beyond ASCII folds to, whatever stands around it. */

/** Marks that sit on letters where they are decoration, or optional: accents, Hebrew points, Arabic vowels. */
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

/** Characters nobody sees: zero-width ones, direction marks, soft hyphens, variation selectors, tags, fillers. */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu

/** What Unicode's own compatibility forms leave apart although it reads the same. */
const alike: ReadonlyMap<string, string> = new Map([
  ...pairsOf('‘’‚‛′ʼ＇`´', "'"),
  ...pairsOf('“”„‟″«»', '"'),
  ...pairsOf('‐‑‒–—―−⁃', '-'),
  ...pairsOf('∕⁄', '/'),
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

const mostRemembered = 16_384
const remembered = new Map<number, string>()

/** The folded form of a code point: none, one or several characters, in lower case. */
export function foldCodePoint(code: number): string {
  const known = remembered.get(code)
  if (known !== undefined) return known
  const folded = foldUncached(code)
  if (remembered.size < mostRemembered) remembered.set(code, folded)
  return folded
}

function foldUncached(code: number): string {
  const boxed = boxedLetter(code)
  if (boxed !== undefined) return boxed
  const plain = String.fromCodePoint(code).normalize('NFKD').toLowerCase().replace(invisible, '')
  const letters = [...plain].filter((letter) => !isMark(letter))
  return letters.map((letter) => alike.get(letter) ?? letter).join('')
}

/** Letters in circles, boxes, brackets and flags: they spell words in messages, but Unicode calls them symbols. */
function boxedLetter(code: number): string | undefined {
  for (const first of [0x249c, 0x1f110, 0x1f130, 0x1f150, 0x1f170, 0x1f1e6]) {
    if (code >= first && code < first + 26) return String.fromCharCode(97 + code - first)
  }
  return undefined
}
