/** Card and telephone numbers: groups of digits with various separators. */
import { endOfMatch, textBefore } from './look-behind.ts'
import { passesLuhn } from './checksums.ts'

/** Groups of digits from one position on, as written. */
type Grouped = {
  readonly groups: readonly string[]
  readonly separators: readonly string[]
  readonly ends: readonly number[]
}

const longestNumber = 40
const maxGroups = 8
const minDigits = 7
const joinsDigits = new Set(Array.from(' .-/()+\u00a0', (letter) => letter.charCodeAt(0)))

/** True if enough digits follow for a card or telephone number. Most numbers in a text are years and amounts. */
export function isLongNumber(text: string, start: number): boolean {
  let digits = 0
  for (let at = start; at < start + longestNumber; at++) {
    const code = text.charCodeAt(at)
    if (code >= 48 && code <= 57) digits += 1
    else if (!joinsDigits.has(code)) return false
    if (digits === minDigits) return true
  }
  return false
}

const group = /\d{1,19}/y
const separator = /(?:[ -]?\(|\) ?|[ .\-/\u00a0])(?=\d)/y

/** Reads a few groups of digits with at most one separator between them. */
function readGroups(text: string, start: number): Grouped {
  const groups: string[] = []
  const separators: string[] = []
  const ends: number[] = []
  for (let at = start; at < start + longestNumber && groups.length < maxGroups;) {
    const end = endOfMatch(group, text, at)
    if (end < 0) break
    groups.push(text.slice(at, end))
    ends.push(end)
    at = endOfMatch(separator, text, end)
    if (at < 0) break
    separators.push(text.slice(end, at))
  }
  return { groups, separators, ends }
}

const cardStart = /^(?:4|5[1-5]|2[2-7]|3[0-9]|6)/
const cardGroups = new Set(['4,4,4,4', '4,4,4,1', '4,4,4,4,3', '4,6,5', '4,6,4', '4,4,5'])

/** End of the payment card number that begins here, or -1. */
export function findCard(text: string, start: number): number {
  if (!cardStart.test(text.slice(start, start + 2))) return -1
  const { groups, separators, ends } = readGroups(text, start)
  const lengths = groups.map((part) => part.length)
  for (let count = Math.min(groups.length, 5); count > 0; count--) {
    const end = ends[count - 1] ?? -1
    const isWritten = count === 1 ? (lengths[0] ?? 0) >= 13 : cardGroups.has(lengths.slice(0, count).join())
    const isEven = separators
      .slice(0, count - 1)
      .every((between) => between === separators[0] && ' -'.includes(between))
    if (isWritten && isEven && passesLuhn(groups.slice(0, count).join('')) && isWordEnd(text, end)) return end
  }
  return -1
}

const phoneLabel =
  /(?:phone|tel|telephone|mobile|cell|fax|call|text|whatsapp|sms|reach|contact|number is)(?![a-z])[^\d\n]{0,16}$/i

/** End of the telephone number that begins here, or -1. */
export function findPhone(text: string, start: number): number {
  const hasPlus = text[start] === '+'
  const sign = hasPlus ? start + 1 : start
  const { groups, ends } = readGroups(text, text[sign] === '(' ? sign + 1 : sign)
  const digits = groups.reduce((sum, part) => sum + part.length, 0)
  const end = ends.at(-1) ?? -1
  if (digits >= minDigits && digits <= 15 && isWordEnd(text, end)) {
    if (hasPlus && digits >= 8) return end
    const followsNumber = /^\d.$/s.test(text.slice(Math.max(0, start - 2), start))
    if (!followsNumber && hasInternationalPrefix(groups, digits)) return end
    if (!followsNumber && !looksLikeDate(groups) && phoneLabel.test(textBefore(text, start))) return end
  }
  return northAmerican(text, groups, ends)
}

/** 0049 30 901820: begins with the international prefix. */
const hasInternationalPrefix = (groups: readonly string[], digits: number): boolean =>
  groups.length > 1 && digits >= 10 && groups[0]?.startsWith('00') === true

/** (212) 555-0143, 212-555-0143, 1 212 555 0143. */
function northAmerican(text: string, groups: readonly string[], ends: readonly number[]): number {
  const from = groups[0] === '1' ? 1 : 0
  const [area = '', exchange = '', line = ''] = groups.slice(from, from + 3)
  const end = ends[from + 2] ?? -1
  const isShaped = /^[2-9]\d\d$/.test(area) && /^[2-9]\d\d$/.test(exchange) && line.length === 4
  return isShaped && isWordEnd(text, end) ? end : -1
}

const looksLikeDate = (groups: readonly string[]): boolean =>
  groups.length === 3 &&
  groups.some((part) => part.length === 4) &&
  groups.filter((part) => part.length <= 2).length === 2

const isWordEnd = (text: string, end: number): boolean => end >= 0 && !/^\w/.test(text[end] ?? '')
