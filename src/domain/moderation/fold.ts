/** What one character beyond ASCII folds to, whatever stands around it. */

/** Marks that sit on letters where they are decoration, or optional: accents, Hebrew points, Arabic vowels. */
const marks =
  /[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]/gu

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
  const folded = foldAnew(code)
  if (remembered.size < mostRemembered) remembered.set(code, folded)
  return folded
}

function foldAnew(code: number): string {
  const boxed = boxedLetter(code)
  if (boxed !== undefined) return boxed
  const plain = String.fromCodePoint(code).normalize('NFKD').toLowerCase().replace(marks, '').replace(invisible, '')
  return [...plain].map((letter) => alike.get(letter) ?? letter).join('')
}

/** Letters in circles, boxes, brackets and flags: they spell words in messages, but Unicode calls them symbols. */
function boxedLetter(code: number): string | undefined {
  for (const first of [0x249c, 0x1f110, 0x1f130, 0x1f150, 0x1f170, 0x1f1e6]) {
    if (code >= first && code < first + 26) return String.fromCharCode(97 + code - first)
  }
  return undefined
}
