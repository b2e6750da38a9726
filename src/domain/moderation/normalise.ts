/**
 * One spelling for text that is written to look alike: case, width, accents, invisible characters and borrowed letters
 * are folded away. Terms and the classifier both read text in this form.
 */
import { foldCodePoint } from './confusables.ts'
import { latinHomoglyph } from './homoglyphs.ts'

const beyondAscii = /[\u0080-\uffff]/
const beyondAsciiRuns = /[\u0080-\uffff]+/g
/** Words that hold a letter of a script with Latin lookalikes: Greek, Cyrillic, Armenian, Cherokee. */
const borrowingWords = /[a-z]*[\u0370-\u058f\uab70-\uabbf][a-z\u0370-\u058f\uab70-\uabbf]*/g

/** The normal form. Plain ASCII, by far the most common case, costs two native calls. */
export function normalise(text: string): string {
  if (!beyondAscii.test(text)) return text.toLowerCase()
  const folded = text.replace(beyondAsciiRuns, foldRun).toLowerCase()
  return beyondAscii.test(folded) ? foldLookalikes(folded) : folded
}

function foldRun(run: string): string {
  let folded = ''
  for (const letter of run) folded += foldCodePoint(letter.codePointAt(0) ?? 0)
  return folded
}

/** Words that mix Latin with letters passing for Latin become Latin; so do words of such letters alone in a Latin text. */
function foldLookalikes(text: string): string {
  let isLatin: boolean | undefined
  return text.replace(borrowingWords, (word) => {
    const latin = latinForm(word)
    if (latin === undefined) return word
    if (/[a-z]/.test(word)) return latin
    isLatin ??= isLatinText(text)
    return isLatin ? latin : word
  })
}

/** The word in Latin letters, where every letter of it passes for one. */
export function latinForm(word: string): string | undefined {
  let latin = ''
  for (let at = 0; at < word.length; at++) {
    const code = word.charCodeAt(at)
    const alike = code < 0x80 ? code : latinHomoglyph(code)
    if (alike === undefined) return undefined
    latin += String.fromCharCode(alike)
  }
  return latin
}

/** A text counts as Latin where few letters are certain to be of another script. */
function isLatinText(text: string): boolean {
  let latin = 0
  let foreign = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 97 && code <= 122) latin += 1
    else if (code >= 0x370 && latinHomoglyph(code) === undefined) foreign += 1
  }
  return latin > foreign * 4
}

const borrowing = /[\u0370-\u058f\uab70-\uabbf]/

/** Whether it holds letters that are read as Latin or not by what else the text holds: a part may be read otherwise. */
export const dependsOnContext = (text: string): boolean =>
  beyondAscii.test(text) && borrowing.test(text.replace(beyondAsciiRuns, foldRun).toLowerCase())

/** Whether every character keeps its place in the normal form, and none is folded for the sake of those around it. */
export function foldsInPlace(text: string): boolean {
  if (!beyondAscii.test(text)) return true
  for (const letter of text) {
    const code = letter.codePointAt(0) ?? 0
    if (code < 0x80) continue
    const folded = foldCodePoint(code)
    if (folded.length !== letter.length || isHalf(code) || borrowing.test(folded)) return false
  }
  return true
}

/** Half of a character whose other half is not there. */
const isHalf = (code: number): boolean => code >= 0xd800 && code < 0xe000

/** A stretch of a text, `end` not included. */
export type Span = { readonly start: number; readonly end: number }

/** Leads from stretches of the normal form back to the source. Made only where something was found. */
export function createSourceMap(source: string): (found: Span) => Span {
  if (!beyondAscii.test(source)) return (found) => found
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
