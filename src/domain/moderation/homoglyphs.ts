/**
 * Homoglyphs: letters of other scripts that look like Latin ones. They are folded only in words that mix scripts, or in a text
 * that is otherwise Latin, so real Russian or Greek stays unchanged.
 */
const pairs: readonly (readonly [letters: string, latin: string])[] = [
  // Cyrillic
  ['авекмнорстухѕіјһԁԛԝгьпиѵ', 'abekmhopctyxsijhdqwrbnuv'],
  // Greek
  ['αβεηικμνορτυχγωζσδς', 'abenikuvoptuxywzods'],
  // Armenian
  ['օսհոցյզկաշ', 'ouhngjqyuz'],
  // Cherokee, in the lower case that case folding gives
  ['ꭺꭼꮋꭻꮶꮮꮇꮲꮪꭲꮩꮤ', 'aehjklmpsivw'],
]

const latinByLetter = new Map<number, number>()
for (const [letters, latin] of pairs) {
  const from = [...letters]
  for (const [at, letter] of from.entries()) latinByLetter.set(letter.codePointAt(0) ?? 0, latin.charCodeAt(at))
}

/** The Latin letter that this one looks like, if any. */
export const latinHomoglyph = (code: number): number | undefined => latinByLetter.get(code)
