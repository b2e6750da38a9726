/**
 * Normalises text: folds case, width, accents, invisible characters, confusables and homoglyphs. Terms and the classifier
 * both work on the normal form.
 */
import { foldCodePoint } from './confusables.ts'

const beyondAscii = /[\u0080-\uffff]/
const beyondAsciiRuns = /[\u0080-\uffff]+/g
/** A letter of a script that has Latin homoglyphs: Greek, Cyrillic, Armenian, Cherokee. */
const homoglyphScripts = /[\u0370-\u058f\uab70-\uabbf]/
/** The rest of a word, from its first letter of such a script on. */
const homoglyphWords = /[\u0370-\u058f\uab70-\uabbf][a-z\u0370-\u058f\uab70-\uabbf]*/g

export const isAscii = (text: string): boolean => !beyondAscii.test(text)

/** Terms, the classifier and the detector of prompt injections read the same slice of a text one after the other. */
let kept = { text: '', normal: '' }
/** Longer texts are not kept in memory. */
const longestKept = 16_384

/** The normal form. Plain ASCII, by far the most common case, costs two native calls. */
export function normalise(text: string): string {
  if (!beyondAscii.test(text)) return text.toLowerCase()
  if (kept.text === text) return kept.normal
  const folded = foldCharacters(text)
  const normal = homoglyphScripts.test(folded) ? foldHomoglyphs(folded) : folded
  if (text.length <= longestKept) kept = { text, normal }
  return normal
}

/** Folds each character without regard to those around it. Homoglyphs stay as they are, because they depend on the text. */
export const foldCharacters = (text: string): string => text.replace(beyondAsciiRuns, foldRun).toLowerCase()

function foldRun(run: string): string {
  let folded = ''
  for (const letter of run) folded += foldCodePoint(letter.codePointAt(0) ?? 0)
  return folded
}

/**
 * Folds words that mix Latin letters with homoglyphs, and in a Latin text also words of homoglyphs alone. The start of a word is
 * searched backwards: a pattern that begins with `[a-z]*` takes quadratic time on a long run of letters.
 */
function foldHomoglyphs(text: string): string {
  let isLatin: boolean | undefined
  const foldWord = (word: string): string => {
    const latin = latinForm(word)
    if (latin === undefined) return word
    if (/[a-z]/.test(word)) return latin
    isLatin ??= isLatinText(text)
    return isLatin ? latin : word
  }
  let folded = ''
  let end = 0
  for (const { 0: rest, index } of text.matchAll(homoglyphWords)) {
    let start = index
    while (start > end && isLatinLetter(text.charCodeAt(start - 1))) start -= 1
    const next = index + rest.length
    folded += text.slice(end, start) + foldWord(text.slice(start, next))
    end = next
  }
  return folded + text.slice(end)
}

const isLatinLetter = (code: number): boolean => code >= 97 && code <= 122

/** The word in Latin letters; undefined if one of its letters has no Latin homoglyph. */
export function latinForm(word: string): string | undefined {
  let latin = ''
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at)
    const latinCode = code < 0x80 ? code : latinHomoglyph(code)
    if (latinCode === undefined) return undefined
    latin += String.fromCharCode(latinCode)
  }
  return latin
}

/** A text counts as Latin if few of its letters are certainly of another script. */
function isLatinText(text: string): boolean {
  let latin = 0
  let foreign = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isLatinLetter(code)) latin += 1
    else if (code >= 0x370 && latinHomoglyph(code) === undefined) foreign += 1
  }
  return latin > foreign * 4
}

/** The same for one character of the normal form. */
export const isHomoglyphScript = (code: number): boolean =>
  (code >= 0x370 && code <= 0x58f) || (code >= 0xab70 && code <= 0xabbf)

/** True if the text has letters that are folded or not depending on the rest of the text. A part of it may then fold differently. */
export const dependsOnContext = (text: string): boolean =>
  beyondAscii.test(text) && firstHomoglyph(foldCharacters(text)) >= 0

/** Position of the first letter of folded characters that may be a homoglyph, or -1. */
export const firstHomoglyph = (folded: string): number => folded.search(homoglyphScripts)

/** A range of a text; `end` is exclusive. */
export type Span = { readonly start: number; readonly end: number }

/** Maps ranges of the normal form back to the source. Created only after a match, because it costs a pass over the text. */
export function createSourceMap(source: string): (range: Span) => Span {
  if (!beyondAscii.test(source)) return (range) => range
  const starts: number[] = []
  for (let at = 0; at < source.length; at++) {
    const code = source.codePointAt(at) ?? 0
    const width = code < 0x80 ? 1 : foldCodePoint(code).length
    for (let unit = 0; unit < width; unit++) starts.push(at)
    if (code > 0xffff) at += 1
  }
  return ({ start, end }) => {
    const last = starts[end - 1] ?? 0
    const width = (source.codePointAt(last) ?? 0) > 0xffff ? 2 : 1
    return { start: starts[start] ?? source.length, end: last + width }
  }
}

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
