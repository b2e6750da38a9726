/**
 * Letters of other scripts that pass for Latin ones. They are folded only inside words that mix scripts, or in a text
 * that is Latin otherwise: real Russian or Greek stays what it is.
 */
const pairs: readonly (readonly [letters: string, latin: string])[] = [
  // Cyrillic
  ['авекмнорстухѕіјһԁԛԝгьпиѵ', 'abekmhopctyxsijhdqwrbnuv'],
  // Greek
  ['αβεηικμνορτυχγωζσδς', 'abenikuvoptuxywzods'],
  // Armenian
  ['օսհոցյզկաշ', 'ouhngjqyuz'],
  // Cherokee, in the small forms that case folding gives
  ['ꭺꭼꮋꭻꮶꮮꮇꮲꮪꭲꮩꮤ', 'aehjklmpsivw'],
]

const latinByLetter = new Map<number, number>()
for (const [letters, latin] of pairs) {
  const from = [...letters]
  for (const [at, letter] of from.entries()) latinByLetter.set(letter.codePointAt(0) ?? 0, latin.charCodeAt(at))
}

/** The Latin letter that this one passes for, if any. */
export const latinHomoglyph = (code: number): number | undefined => latinByLetter.get(code)
