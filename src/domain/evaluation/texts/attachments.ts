import { decodedKind } from '../../scan/normalise/encoded-text.ts'

/**
 * Tells text from binary data. A string is data if its content is: base64 of an image, audio, a signature or a ciphertext.
 * The name of the field does not matter, because callers and models choose the names in their JSON freely.
 */

const dataUrlPrefix = /^data:[^,]{0,200},/
const base64Prefix = /^data:[^,]{0,180};base64,/i
/** Data URL prefixes that carry only a media type. Any other prefix is scanned as text. */
const plainPrefix =
  /^data:(?:image|audio|video|application|text)\/(?:png|jpe?g|gif|webp|avif|hei[cf]|bmp|tiff|svg\+xml|pdf|octet-stream|(?:x-)?wav|mp[34]|mpeg|ogg|flac|aac|webm|plain|html|css|csv|markdown|json|xml|zip|msword|vnd\.[a-z.-]{1,70})(?:;charset=[a-z0-9-]{1,20})?;base64,$/i

/** Shorter strings are scanned as text: that is cheap, and a short word looks like base64. */
const minDataLength = 64
/** Characters of a file that are sampled to decide whether it is text. */
const sampleLength = 4_096
/** The same for base64 without a data URL prefix. */
const longSampleLength = 8_192

/** The text of any string field: usually the string itself, otherwise what it encodes. Undefined if it is binary data. */
export function textOfField(value: string): string | undefined {
  if (value.length < minDataLength || !mayBeData(value)) return value
  const prefix = base64Prefix.exec(value.slice(0, 200))?.[0] ?? ''
  const data = value.slice(prefix.length)
  return isData(data) ? withPrefix(prefix, decodedText(data)) : value
}

/** The text of an attached file; undefined for an image, audio or a PDF. A text with a few invalid bytes is still text. */
export function attachmentText(file: string): string | undefined {
  const prefix = dataUrlPrefix.exec(file.slice(0, 210))?.[0] ?? ''
  const base64 = file.slice(prefix.length)
  if (!isBase64(base64)) return file
  const isText = decodedKind(decoded(base64.slice(0, sampleLength))) !== 'binary' && !base64.startsWith(pdfStart)
  return withPrefix(prefix, isText ? decoded(base64) : '')
}

const withPrefix = (prefix: string, text: string): string | undefined =>
  (prefix === '' || plainPrefix.test(prefix) ? text : `${prefix}\n${text}`) || undefined

/** Changes the text of a string; binary data stays as it is. */
export function changeText(value: string, change: (text: string) => string): string {
  return textOfField(value) === value ? change(value) : changeAttachment(value, change)
}

/** Changes the text of an attached file. */
export function changeAttachment(file: string, change: (text: string) => string): string {
  const prefix = dataUrlPrefix.exec(file.slice(0, 210))?.[0] ?? ''
  const base64 = file.slice(prefix.length)
  if (!isBase64(base64)) return change(file)
  const text = attachmentText(base64)
  const changed = text && change(text)
  if (changed === undefined || changed === text) return file
  return `${prefix}${Buffer.from(changed).toString('base64')}`
}

/** `%PDF-` in base64. */
const pdfStart = 'JVBERi0'

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8')

/** Rules out prose by its first characters. */
const mayBeData = (value: string): boolean => /^(?:data:[^,]{0,190},)?[\w+/-]{16}/.test(value.slice(0, 220))

const isBase64 = (text: string): boolean => base64Only.test(text) && !isWord.test(text.slice(0, minDataLength))
/** Base64 or base64url. Searching for any other character is much faster than matching the whole string. */
const base64Only = {
  test: (text: string): boolean => !/[^A-Za-z0-9+/_=-]/.test(text) && !/=[^=]/.test(text.slice(0, -2)),
}
/** In a file field, a single word is text. */
const isWord = /^(?:[A-Z]?[a-z]+|(?!(.)\1+$)[A-Z]+)$/

/** Minimum share of non-letters in base64. Camel-case names have fewer. */
const minNonLetters = 0.05
/** Random data also has runs of letters of one case: the longer the data, the longer the runs. */
const longData = 4_096
const wordRun = 16
const longWordRun = 24
const minDistinctLetters = 6

/** Hexadecimal strings are scanned as they are: they are short hashes, or encode text. */
function isData(text: string): boolean {
  if (text.length < minDataLength || !base64Only.test(text) || !/[^0-9a-fA-F]/.test(text)) return false
  if (text.length >= longData) return !hasWords(text, longWordRun)
  return text.replace(/[A-Za-z]+/g, '').length >= text.length * minNonLetters && !hasWords(text, wordRun)
}

/**
 * True if the text has a run of letters of one case, with punctuation between them, that is longer than random data has. Tests
 * the last position of a possible run first, which skips most of the text.
 */
function hasWords(text: string, length: number): boolean {
  for (let last = length - 1; last < text.length;) {
    const start = startOfRun(text, last, length)
    if (start > last - length) last = start + length
    else if (new Set(text.slice(start + 1, last + 1).replace(/[^A-Za-z]/g, '')).size >= minDistinctLetters) return true
    else last += length / 2
  }
  return false
}

/** The position before the run that ends at `last`, searching back at most `length` characters. */
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

/** Decodes base64 without a prefix; empty if it is no text. Letters directly before the base64 shift its alignment. */
function decodedText(data: string): string {
  const kindAt = (shift: number) => decodedKind(decoded(data.slice(shift, shift + longSampleLength)))
  const shift = [1, 2, 3].find((one) => kindAt(one) === 'text') ?? 0
  const isText = shift > 0 || (kindAt(0) !== 'binary' && !data.startsWith(pdfStart))
  return isText ? decoded(data.slice(shift)) : ''
}
