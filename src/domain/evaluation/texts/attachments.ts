import { readingOf } from '../../moderation/encoded-text.ts'

/**
 * Tells text from data. A string is data where its content is: base64 of a picture, a sound, a signature or a ciphertext.
 * What a field is called does not matter, because callers and models name the fields of their JSON as they like.
 */

const label = /^data:[^,]{0,200},/
const base64Label = /^data:[^,]{0,180};base64,/i
/** Labels that say nothing beyond the kind of file. Any other label is read as text. */
const commonLabel =
  /^data:(?:image|audio|video|application|text)\/(?:png|jpe?g|gif|webp|avif|hei[cf]|bmp|tiff|svg\+xml|pdf|octet-stream|(?:x-)?wav|mp[34]|mpeg|ogg|flac|aac|webm|plain|html|css|csv|markdown|json|xml|zip|msword|vnd\.[a-z.-]{1,70})(?:;charset=[a-z0-9-]{1,20})?;base64,$/i

/** Shorter strings are read as text: that is cheap, and a short word looks like base64. */
const shortestData = 64
/** This much of a file shows whether it is text. */
const glimpse = 4_096
/** The same for data that nothing announces. */
const longGlimpse = 8_192

/** The text in a string of any field: mostly the string itself, otherwise what it encodes. Undefined where it is data. */
export function textIn(value: string): string | undefined {
  if (value.length < shortestData || !mayBeData(value)) return value
  const head = base64Label.exec(value.slice(0, 200))?.[0] ?? ''
  const data = value.slice(head.length)
  return isData(data) ? encodedText(head, writingIn(data)) : value
}

/** The text of a file; undefined where the file is none: a picture, a sound, a PDF. A text with a few odd bytes is still one. */
export function attachmentText(file: string): string | undefined {
  const head = label.exec(file.slice(0, 210))?.[0] ?? ''
  const base64 = file.slice(head.length)
  if (!isBase64(base64)) return file
  const isText = readingOf(decoded(base64.slice(0, glimpse))) !== 'noise' && !base64.startsWith(pdfStart)
  return encodedText(head, isText ? decoded(base64) : '')
}

const encodedText = (head: string, text: string): string | undefined =>
  (head === '' || commonLabel.test(head) ? text : `${head}\n${text}`) || undefined

/** The same string with its text changed; data stays as it is. */
export function changeText(value: string, change: (text: string) => string): string {
  return textIn(value) === value ? change(value) : changeAttachment(value, change)
}

/** The same file with its text changed. */
export function changeAttachment(file: string, change: (text: string) => string): string {
  const head = label.exec(file.slice(0, 210))?.[0] ?? ''
  const base64 = file.slice(head.length)
  if (!isBase64(base64)) return change(file)
  const text = attachmentText(base64)
  const changed = text && change(text)
  if (changed === undefined || changed === text) return file
  return `${head}${Buffer.from(changed).toString('base64')}`
}

/** `%PDF-` in base64. */
const pdfStart = 'JVBERi0'

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8')

/** Rules out prose by its first characters. */
const mayBeData = (value: string): boolean => /^(?:data:[^,]{0,190},)?[\w+/-]{16}/.test(value.slice(0, 220))

const isBase64 = (text: string): boolean => base64Only.test(text) && !isWord.test(text.slice(0, shortestData))
/** Base64, or its variant for the web. The search for another character is much faster than one pattern for all of it. */
const base64Only = {
  test: (text: string): boolean => !/[^A-Za-z0-9+/_=-]/.test(text) && !/=[^=]/.test(text.slice(0, -2)),
}
/** In the place of a file, a single word is a word. */
const isWord = /^(?:[A-Z]?[a-z]+|(?!(.)\1+$)[A-Z]+)$/

/** Names in camel case have hardly anything but letters. */
const fewestOthers = 0.05
/** Random data has runs of letters of one case as well: the longer the data, the longer they are. */
const longData = 4_096
const wordRun = 16
const longWordRun = 24
const fewestLetters = 6

/** A hash or hexadecimal text is read as it stands: it is short, or text is hidden in it. */
function isData(text: string): boolean {
  if (text.length < shortestData || !base64Only.test(text) || !/[^0-9a-fA-F]/.test(text)) return false
  if (text.length >= longData) return !hasWords(text, longWordRun)
  return text.replace(/[A-Za-z]+/g, '').length >= text.length * fewestOthers && !hasWords(text, wordRun)
}

/**
 * Whether letters of one case, and signs between them, stand in a row as they do in words and not in random data. Looks at
 * the last place of a possible run first, so that most of a text is stepped over.
 */
function hasWords(text: string, length: number): boolean {
  for (let last = length - 1; last < text.length;) {
    const start = startOfRun(text, last, length)
    if (start > last - length) last = start + length
    else if (new Set(text.slice(start + 1, last + 1).replace(/[^A-Za-z]/g, '')).size >= fewestLetters) return true
    else last += length / 2
  }
  return false
}

/** The place before the run that ends here, looking back no farther than its length. */
function startOfRun(text: string, last: number, length: number): number {
  let at = last
  let isUpper: boolean | undefined
  for (; at > last - length; at--) {
    const code = text.charCodeAt(at)
    if (code >= 0x41 && code <= 0x5a) {
      if (isUpper === false) break
      isUpper = true
    } else if (code >= 0x61 && code <= 0x7a) {
      if (isUpper === true) break
      isUpper = false
    } else if (code >= 0x30 && code <= 0x39) break
  }
  return at
}

/** What data says that nothing announces; empty where it is no text. Letters right before base64 shift what it says. */
function writingIn(data: string): string {
  const readingAt = (shift: number) => readingOf(decoded(data.slice(shift, shift + longGlimpse)))
  const shift = [1, 2, 3].find((one) => readingAt(one) === 'writing') ?? 0
  const isText = shift > 0 || (readingAt(0) !== 'noise' && !data.startsWith(pdfStart))
  return isText ? decoded(data.slice(shift)) : ''
}
