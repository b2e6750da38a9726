/** Names and dates of birth, which only a label before them tells from other words and dates. */
import { endOfMatch, textBefore } from './look-behind.ts'

const strongNameLabel =
  /(?:my (?:full |first |last |given )?name(?: is|'s|:)|(?:full|first|last|given|middle|patient|customer|client|maiden|legal) name(?: is|:)|name's|i am called|(?:please |just )?call me|surname(?: is|:)|(?<![a-z])(?:mr|mrs|ms|mx|dr|prof|sir|madam)\.?) ?$/i
/** `Name:` alone is common in files and forms, so at least two capitalised words must follow. */
const weakNameLabel = /(?<![a-z])(?:name|contact|patient|customer|employee|applicant|signed|regards)[:,] ?\n?$/i
const particles = '(?:(?:van|von|der|den|de|da|del|della|di|dos|la|le|bin|ibn|al|el) ){0,2}'
const given = "\\p{Lu}[\\p{L}\\p{M}'’-]{0,24}"
const oneName = new RegExp(`${given}(?: ${particles}(?:${given}|\\p{Lu}\\.)){0,3}(?![\\p{L}\\p{N}])`, 'uy')
const twoNames = new RegExp(`${given}(?: ${particles}(?:${given}|\\p{Lu}\\.)){1,3}(?![\\p{L}\\p{N}])`, 'uy')

/** The last words of labels. Tested first, because it rules out most capitalised words cheaply. */
const lastOfLabel = new Set(['is', 's', 'called', 'me', 'mr', 'mrs', 'ms', 'mx', 'dr', 'prof', 'sir', 'madam'])

const longestLastWord = Math.max(...[...lastOfLabel].map(({ length }) => length))

/** Runs for every capitalised word, so it creates nothing before the word is short enough for a label. */
function mayEndLabel(text: string, start: number): boolean {
  let end = start
  while (end > start - 2 && isBetweenWords(text[end - 1])) end -= 1
  const last = text[end - 1]
  if (last === ':' || last === ',') return true
  let from = end
  while (from > end - 8 && isAsciiLetter(text.charCodeAt(from - 1))) from -= 1
  return end - from <= longestLastWord && lastOfLabel.has(text.slice(from, end).toLowerCase())
}

const isBetweenWords = (character: string | undefined): boolean =>
  character === ' ' || character === '\n' || character === '.'

const isAsciiLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122)

/** Whether a name may begin here. */
export function mayNameBegin(text: string, start: number): boolean {
  if (!mayEndLabel(text, start)) return false
  const before = textBefore(text, start)
  return strongNameLabel.test(before) || weakNameLabel.test(before)
}

/** End of the name that begins here, or -1. */
export function findName(text: string, start: number): number {
  if (!mayEndLabel(text, start)) return -1
  const before = textBefore(text, start)
  if (strongNameLabel.test(before)) return endOfMatch(oneName, text, start)
  if (weakNameLabel.test(before)) return endOfMatch(twoNames, text, start)
  return -1
}

const birthLabel =
  /(?:born(?: on)?(?: the)?|d\.?o\.?b\.?|date of birth|birth ?date|birthday)(?: is| was|:|,| on)*\s{0,2}$/i
const month =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?'
const birthDate = new RegExp(
  [
    '\\d{1,2}[./-]\\d{1,2}[./-](?:\\d{4}|\\d{2})',
    '\\d{4}[./-]\\d{1,2}[./-]\\d{1,2}',
    `\\d{1,2}(?:st|nd|rd|th)?(?: of)? ${month},? \\d{4}`,
    `${month} \\d{1,2}(?:st|nd|rd|th)?,? \\d{4}`,
  ].join('|'),
  'iy',
)

/** Whether a date of birth may begin here. */
export const mayBirthDateBegin = (text: string, start: number): boolean => birthLabel.test(textBefore(text, start))

/** End of the date of birth that begins here, or -1. */
export function findBirthDate(text: string, start: number): number {
  const end = endOfMatch(birthDate, text, start)
  return end >= 0 && birthLabel.test(textBefore(text, start)) ? end : -1
}
