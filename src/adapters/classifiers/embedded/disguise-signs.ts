/** Signs of disguised words, searched without a look at every character where possible, because every text passes here. */
const isLetter = (code: number): boolean => ((code | 0x20) - 97) >>> 0 < 26
/** Nearly all words are shorter. */
const longRun = 16

/** Words that may be run together. Tests the last letter of a possible run first, which skips most of the text. */
export function longRuns(text: string, most: number): readonly string[] {
  const runs: string[] = []
  for (let last = longRun - 1; last < text.length && runs.length < most;) {
    let start = last
    while (start > last - longRun && isLetter(text.charCodeAt(start))) start -= 1
    if (start > last - longRun) last = start + longRun
    else {
      let end = last + 1
      while (isLetter(text.charCodeAt(end))) end += 1
      runs.push(text.slice(start + 1, end))
      last = end + longRun
    }
  }
  return runs
}

/** Between these tags words end. */
export const blockTag =
  /^(?:p|br|hr|li|ul|ol|dl|dt|dd|div|table|td|th|tr|h[1-6]|pre|section|article|title|head|body|html)$/i
const tagsInWord = /[a-z](?:<(?!\/?(?:p|br|hr|li|ul|ol|dl|dt|dd|div|t[dhr]|h\d)\b)[^<>]*>)+[a-z]/i

/** Tags or comments between two letters. */
export const hasTagsInWords = (text: string): boolean => text.includes('<') && tagsInWord.test(text)

/** Base64 changes between capitals and small letters again and again. */
const changesOfCase = /(?<=[a-z])[A-Z]{1,4}[a-z\d]{1,2}[A-Z]/g
const standInInWord = /(?<=\p{L})[01345789@$!|+][a-z]/giu
/** Around a disguised word others of the sentence are disguised too. */
const around = 200

/** The part of a text in which words look like base64. */
export const partWithManyCases = (text: string): string | undefined => partAround(text, changesOfCase, 32)

/** The part of a text in which words have digits or signs for letters. */
export const partWithDigitsInWords = (text: string): string | undefined => partAround(text, standInInWord, 24)

/** From the first to the last of matches that are neighbours, with what stands around them. One match alone is a name. */
function partAround(text: string, sign: RegExp, farthest: number): string | undefined {
  let first = -1
  let last = -1
  let before = -Infinity
  for (const { index } of text.matchAll(sign)) {
    if (index - before <= farthest) {
      if (first === -1) first = before
      last = index
    }
    before = index
  }
  return first === -1 ? undefined : text.slice(Math.max(0, first - around), last + around)
}

/** In a word of four doubled letters every seventh character has an equal neighbour. */
const step = 7
const fewestPairs = 4

/** Whether a word has each letter twice. */
export function hasDoubledLetters(text: string): boolean {
  for (let at = step; at < text.length; at += step) {
    const code = text.charCodeAt(at)
    if (!isLetter(code)) continue
    const isSecond = code === text.charCodeAt(at - 1)
    if (!isSecond && code !== text.charCodeAt(at + 1)) continue
    if (pairsAround(text, isSecond ? at - 1 : at) >= fewestPairs) return true
  }
  return false
}

/** How many pairs of equal letters stand in a row, of which one begins at `start`. */
function pairsAround(text: string, start: number): number {
  let first = start
  let last = start
  while (isPair(text, first - 2)) first -= 2
  while (isPair(text, last + 2)) last += 2
  return (last - first) / 2 + 1
}

function isPair(text: string, start: number): boolean {
  const code = text.charCodeAt(start)
  return isLetter(code) && code === text.charCodeAt(start + 1)
}
