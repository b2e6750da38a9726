/** Positions in a streamed text at which a match is pending: further text may complete, extend or invalidate it. */
import { isWordCode } from '../../normalise/words.ts'
import { mayBirthDateBegin, mayNameBegin } from './labelled.ts'
import { unfinishedPlaceholder } from './placeholder.ts'
import { longestPrivateKey, longestSecret, unfinishedPrivateKey } from './secrets.ts'

/** The longest pending match: a private key without its end. In plain prose only the last word is pending. */
const longestHold = longestPrivateKey

/** Maximum length and format of an unfinished match that may contain spaces. */
const longest = { number: 65, capitals: 61, name: 2 * 181, birthDate: 45 }
const unfinished = {
  number: /[\d+(][\dA-Z ().\-/\u00a0+]{0,64}$/y,
  capitals: /[A-Z][A-Z0-9 ]{0,60}$/y,
  name: /\p{Lu}[\p{L}\p{M}'’. -]{0,180}$/uy,
  birthDate: /\w[\w ,./-]{0,44}$/y,
  placeholder: new RegExp(unfinishedPlaceholder.source, 'y'),
  privateKey: new RegExp(unfinishedPrivateKey.source, 'y'),
}

/** All positions from `from` on at which a match is pending, in order. */
export function pendingMatchStarts(text: string, from: number): readonly number[] {
  const starts: number[] = []
  const lastBreak = lastBreakIn(text)
  for (let at = Math.max(from, text.length - longestHold); at < text.length; at++) {
    if (isPending(text, at, lastBreak)) starts.push(at)
  }
  return starts
}

function isPending(text: string, at: number, lastBreak: number): boolean {
  const code = text.charCodeAt(at)
  if (!isWordCode(code)) return isSymbolPending(text, at)
  if (at > 0 && isWordCode(text.charCodeAt(at - 1))) return false
  // E-mail addresses and tokens contain no spaces, so an unbroken run at the end of the text may become one.
  if (at > lastBreak && text.length - at <= longestSecret) return true
  const left = text.length - at
  if (left <= longest.number && isDigit(code) && matchesAt(unfinished.number, text, at)) return true
  if (left <= longest.capitals && isCapital(code) && matchesAt(unfinished.capitals, text, at)) return true
  const mayBeName = left <= longest.name && (isCapital(code) || code > 0x7f)
  return (
    (mayBeName && matchesAt(unfinished.name, text, at) && mayNameBegin(text, at)) ||
    (left <= longest.birthDate && matchesAt(unfinished.birthDate, text, at) && mayBirthDateBegin(text, at))
  )
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39
const isCapital = (code: number): boolean => code >= 0x41 && code <= 0x5a

function isSymbolPending(text: string, at: number): boolean {
  const sign = text[at]
  if (sign === '+' || sign === '(') return matchesAt(unfinished.number, text, at)
  if (sign === '[') return matchesAt(unfinished.placeholder, text, at)
  return sign === '-' && matchesAt(unfinished.privateKey, text, at)
}

/** The last character that no address or token can contain: white space or a non-ASCII character. */
function lastBreakIn(text: string): number {
  const first = Math.max(0, text.length - longestSecret)
  for (let at = text.length - 1; at >= first; at--) {
    const code = text.charCodeAt(at)
    if (code <= 0x20 || code >= 0x7f) return at
  }
  return first - 1
}

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at
  return pattern.test(text)
}
