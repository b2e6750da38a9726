import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz' // Crockford's base32: encoded numbers sort like the numbers
const timeLength = 10
const randomLength = 16

/** Makes ids such as `pol_01h…`: a prefix, 48 bits of time, 80 random bits. They sort by creation. */
export type Ids = (prefix: string) => string

/** Sorts before every id with this prefix that is created at this time or later. */
export function lowestIdAt(prefix: string, ms: number): string {
  let rest = Math.max(0, ms)
  let digits = ''
  for (let at = 0; at < timeLength; at++) {
    digits = alphabet.charAt(rest % 32) + digits
    rest = Math.floor(rest / 32)
  }
  return `${prefix}_${digits}`
}

/** When the id was created, in milliseconds; also from its digits without the prefix. */
export function timeOfId(id: string): number {
  const digits = id.slice(id.indexOf('_') + 1).slice(0, timeLength)
  return Array.from(digits).reduce((ms, digit) => ms * 32 + alphabet.indexOf(digit), 0)
}

/**
 * Ids of one process always ascend: within one millisecond, and after the clock stepped back, the random part of the last id
 * is incremented instead of drawn again.
 */
export function createIds(clock: Clock, random: Random): Ids {
  let lastMs = -1 // so that the first id is drawn even if the clock starts at 0
  const digits = new Uint8Array(timeLength + randomLength)
  const text = Buffer.alloc(digits.length) // the same as characters: most ids differ from the last one only in the last digit
  const set = (at: number, digit: number): void => {
    digits[at] = digit
    text[at] = alphabet.charCodeAt(digit)
  }
  const drawAt = (ms: number): void => {
    let [rest, before] = [ms, lastMs] // unchanged digits are kept
    for (let at = timeLength - 1; at >= 0 && rest !== before; at--) {
      set(at, rest % 32)
      rest = Math.floor(rest / 32)
      before = Math.floor(before / 32)
    }
    const drawn = random.bytes(randomLength)
    for (let at = 0; at < randomLength; at++) set(timeLength + at, (drawn[at] ?? 0) & (at === 0 ? 15 : 31)) // the top bit stays 0, so that it can be incremented
  }
  const increment = (): void => {
    for (let at = digits.length - 1; at >= timeLength; at--) {
      const digit = (digits[at] ?? 0) + 1
      set(at, digit & 31)
      if (digit < 32) return
    }
  }
  /** Read from one buffer per prefix, as a flat string, which is cheaper to write as JSON than a concatenation. */
  const buffers = new Map<string, Buffer>()
  const withPrefix = (prefix: string): string => {
    const buffer = buffers.get(prefix) ?? Buffer.from(`${prefix}_${text.toString('latin1')}`, 'latin1')
    buffers.set(prefix, buffer)
    text.copy(buffer, prefix.length + 1)
    return buffer.toString('latin1')
  }
  return (prefix) => {
    const nowMs = clock.nowMs()
    if (nowMs > lastMs) {
      drawAt(nowMs)
      lastMs = nowMs
    } else {
      increment()
    }
    return withPrefix(prefix)
  }
}
