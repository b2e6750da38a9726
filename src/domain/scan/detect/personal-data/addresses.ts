/** E-mail, IP and hardware addresses, and bank account numbers. */
import { endOfMatch, textBefore } from './look-behind.ts'
import { modulo97 } from './checksums.ts'

const email = /[A-Za-z0-9][\w.%+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,7}\.[A-Za-z]{2,24}(?![\w-])/y

/** End of the e-mail address that begins here, or -1. */
export const findEmail = (text: string, start: number): number => endOfMatch(email, text, start)

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const ipv4 = new RegExp(`(?:${octet}\\.){3}${octet}(?!\\w|\\.\\d)`, 'y')
const versionBefore = /(?:\d\.|\bv|version |release )$/i

/** End of the IPv4 address that begins here, or -1. A number after `version` or `v` is a version, not an address. */
export function findIpv4(text: string, start: number): number {
  const end = endOfMatch(ipv4, text, start)
  return end >= 0 && versionBefore.test(textBefore(text, start)) ? -1 : end
}

const mac = /[0-9A-Fa-f]{2}([:-])(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}(?![\w:-])/y

/** End of the hardware address that begins here, or -1. */
export const findMac = (text: string, start: number): number => endOfMatch(mac, text, start)

const hexGroups = /[0-9A-Fa-f]{1,4}(?::{1,2}[0-9A-Fa-f]{1,4}){2,7}(?:::)?(?![\w:])/y

/** End of the IPv6 address that begins here, or -1. Needs at least three groups and a digit, because `a::b` is common in code. */
export function findIpv6(text: string, start: number): number {
  const end = endOfMatch(hexGroups, text, start)
  if (end < 0) return -1
  const address = text.slice(start, end)
  const gaps = address.split('::').length - 1
  const groups = address.split(/::?/).filter((group) => group !== '').length
  const isWhole = gaps === 0 ? groups === 8 : gaps === 1 && groups < 8
  return isWhole && /\d/.test(address) ? end : -1
}

/** Length of an IBAN by country. */
const ibanLengths: Readonly<Record<string, number>> = {
  AD: 24,
  AE: 23,
  AL: 28,
  AT: 20,
  AZ: 28,
  BA: 20,
  BE: 16,
  BG: 22,
  BH: 22,
  BR: 29,
  BY: 28,
  CH: 21,
  CR: 22,
  CY: 28,
  CZ: 24,
  DE: 22,
  DK: 18,
  DO: 28,
  EE: 20,
  EG: 29,
  ES: 24,
  FI: 18,
  FO: 18,
  FR: 27,
  GB: 22,
  GE: 22,
  GI: 23,
  GL: 18,
  GR: 27,
  GT: 28,
  HR: 21,
  HU: 28,
  IE: 22,
  IL: 23,
  IS: 26,
  IT: 27,
  JO: 30,
  KW: 30,
  KZ: 20,
  LB: 28,
  LI: 21,
  LT: 20,
  LU: 20,
  LV: 21,
  MC: 27,
  MD: 24,
  ME: 22,
  MK: 19,
  MR: 27,
  MT: 31,
  MU: 30,
  NL: 18,
  NO: 15,
  PK: 24,
  PL: 28,
  PS: 29,
  PT: 25,
  QA: 29,
  RO: 24,
  RS: 22,
  SA: 24,
  SC: 31,
  SE: 24,
  SI: 19,
  SK: 24,
  SM: 27,
  TN: 24,
  TR: 26,
  UA: 29,
  VA: 22,
  XK: 20,
}
const ibanStart = /[A-Z]{2}\d{2}/y

/** End of the IBAN that begins here, or -1. Single spaces are allowed anywhere in it. */
export function findIban(text: string, start: number): number {
  if (endOfMatch(ibanStart, text, start) < 0) return -1
  const length = ibanLengths[text.slice(start, start + 2)]
  if (length === undefined) return -1
  let account = ''
  let at = start
  while (account.length < length) {
    if (text[at] === ' ' && text[at - 1] !== ' ') at += 1
    const character = text[at] ?? ''
    if (!/^[A-Z0-9]$/.test(character)) return -1
    account += character
    at += 1
  }
  const isWhole = !/^\w/.test(text[at] ?? '')
  return isWhole && modulo97(account.slice(4) + account.slice(0, 4)) === 1 ? at : -1
}
