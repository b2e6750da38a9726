/**
 * Finds all personal data of a text in one pass. Each detector is tried only at positions where its kind can begin, and reads a bounded range
 * forwards and backwards, so the search takes linear time and works on streams.
 */
import { isWordCode } from '../../normalise/words.ts'
import { findEmail, findIban, findIpv4, findIpv6, findMac } from './addresses.ts'
import { findBirthDate, findName } from './labelled.ts'
import type { PersonalDataKind, PersonalDatum } from './kinds.ts'
import { findNationalId } from './national-ids.ts'
import { findCard, findPhone, isLongNumber } from './numbers.ts'
import { findPlaceholder } from './placeholder.ts'
import { findPrivateKey, findToken } from './secrets.ts'

/** Personal data, or text of the caller that looks like a placeholder and must be escaped. */
export type PersonalDataMatch = Omit<PersonalDatum, 'kind'> & { readonly kind: PersonalDataKind | 'literal' }

type Detector = {
  readonly kind: PersonalDataMatch['kind']
  /** End of the match that begins at `start`, or -1. */
  readonly find: (text: string, start: number) => number
}

/** Detectors in the order in which they are tried: longer and more certain matches first. */
const atDigit: readonly Detector[] = [
  { kind: 'email', find: findEmail },
  { kind: 'mac_address', find: findMac },
  { kind: 'ip_address', find: findIpv6 },
  { kind: 'ip_address', find: findIpv4 },
  { kind: 'date_of_birth', find: findBirthDate },
]
const atLongNumber: readonly Detector[] = [
  ...atDigit,
  { kind: 'card', find: findCard },
  { kind: 'national_id', find: findNationalId },
  { kind: 'phone', find: findPhone },
]
const atLetter: readonly Detector[] = [
  { kind: 'email', find: findEmail },
  { kind: 'secret', find: findToken },
  { kind: 'mac_address', find: findMac },
  { kind: 'ip_address', find: findIpv6 },
  { kind: 'date_of_birth', find: findBirthDate },
]
const atCapital: readonly Detector[] = [
  ...atLetter,
  { kind: 'iban', find: findIban },
  { kind: 'national_id', find: findNationalId },
  { kind: 'name', find: findName },
]
const atPlainNumber: readonly Detector[] = [{ kind: 'date_of_birth', find: findBirthDate }]
const atPlainCapital: readonly Detector[] = [...atPlainNumber, { kind: 'name', find: findName }]
const atSymbol = new Map<number, readonly Detector[]>([
  [codeOf('+'), [{ kind: 'phone', find: findPhone }]],
  [codeOf('('), [{ kind: 'phone', find: findPhone }]],
  [codeOf('['), [{ kind: 'literal', find: findPlaceholder }]],
  [codeOf('-'), [{ kind: 'secret', find: findPrivateKey }]],
])
const nothing: readonly Detector[] = []

/** All personal data of a text, in order, without overlaps. */
export function findPersonalData(text: string): readonly PersonalDatum[] {
  const found: PersonalDatum[] = []
  for (let next = findNext(text, 0); next !== undefined; next = findNext(text, next.end)) {
    if (next.kind !== 'literal') found.push({ ...next, kind: next.kind })
  }
  return found
}

/** The first match that begins at or after `from` and before `until`. */
export function findNext(text: string, from: number, until = text.length): PersonalDataMatch | undefined {
  let start = from
  if (start > 0 && isWordCode(text.charCodeAt(start - 1))) start = endOfWord(text, start)
  for (start = afterPlainWords(text, start, until); start < until; start = afterPlainWords(text, start, until)) {
    const code = text.charCodeAt(start)
    const end = isWordCode(code) ? endOfWord(text, start + 1) : start + 1
    const found = tryAt(text, start, detectorsFor(text, start, end))
    if (found !== undefined) return found
    start = end
  }
  return undefined
}

/** Skips words in lower case with a space, comma, line break or full stop after them: most of any text, in which nothing begins. */
function afterPlainWords(text: string, from: number, until: number): number {
  let start = from
  for (let at = from; at < until; at++) {
    const code = text.charCodeAt(at)
    if (code >= 97 && code <= 122) continue
    const isEnd = code === space || code === comma || code === lineBreak
    const isSentenceEnd = code === fullStop && text.charCodeAt(at + 1) === space
    if ((!isEnd && !isSentenceEnd) || mayBeMonth(text, start)) break
    start = at + 1
  }
  return start
}

function tryAt(text: string, start: number, detectors: readonly Detector[]): PersonalDataMatch | undefined {
  for (const { kind, find } of detectors) {
    const end = find(text, start)
    if (end >= 0) return { kind, start, end }
  }
  return undefined
}

/** The detectors for the word, number or symbol from `start` to `end`. */
function detectorsFor(text: string, start: number, end: number): readonly Detector[] {
  const code = text.charCodeAt(start)
  if (code === space) return nothing
  if (code >= 48 && code <= 57) {
    if (isLongNumber(text, start)) return atLongNumber
    return isPlain(text, start, end) ? atPlainNumber : atDigit
  }
  if (code >= 97 && code <= 122) {
    if (!isPlain(text, start, end)) return atLetter
    return mayBeMonth(text, start) ? atPlainNumber : nothing
  }
  if (code >= 65 && code <= 90) return isPlain(text, start, end) ? atPlainCapital : atCapital
  if (code < 128) return atSymbol.get(code) ?? nothing
  return isCapital(code) ? atPlainCapital : nothing
}

const space = 0x20
const comma = 0x2c
const lineBreak = 0x0a
const fullStop = 0x2e
const joinsWords = new Set(Array.from('@_%+-:/', codeOf))

function endOfWord(text: string, from: number): number {
  let at = from
  while (at < text.length && isWordCode(text.charCodeAt(at))) at += 1
  return at
}

/** The first two letters of months, indexed by `pairAt`. A Set would dominate the cost per word. */
const monthStarts = new Uint8Array(0x4000)
for (const letters of ['ja', 'fe', 'ma', 'ap', 'ju', 'au', 'se', 'oc', 'no', 'de']) monthStarts[pairAt(letters, 0)] = 1

const mayBeMonth = (text: string, start: number): boolean => monthStarts[pairAt(text, start)] === 1

function pairAt(text: string, at: number): number {
  return ((text.charCodeAt(at) & 0x7f) << 7) | (text.charCodeAt(at + 1) & 0x7f)
}

/** A word in lower case after its first letter, or a number, with nothing joined to it: most of any text. */
function isPlain(text: string, start: number, end: number): boolean {
  const after = text.charCodeAt(end)
  if (after !== space && (joinsWords.has(after) || (after === fullStop && isWordCode(text.charCodeAt(end + 1)))))
    return false
  const isNumber = text.charCodeAt(start) <= 57
  const first = isNumber ? 48 : 97
  const last = isNumber ? 57 : 122
  for (let at = start + 1; at < end; at++) {
    const code = text.charCodeAt(at)
    if (code < first || code > last) return false
  }
  return true
}

const isCapital = (code: number): boolean => /\p{Lu}/u.test(String.fromCharCode(code))

function codeOf(character: string): number {
  return character.charCodeAt(0)
}
