import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz' // Crockford's base32: sorts like the number it spells
const timeLength = 10
const chanceLength = 16

/** Makes ids such as `pol_01h…`: a prefix, 48 bits of time, 80 bits of chance. They sort by creation. */
export type Ids = (prefix: string) => string

/**
 * Ids made in one process always ascend: within one millisecond, and after the clock stepped back,
 * the chance part of the last id is counted up instead of drawn anew.
 */
export function createIds(clock: Clock, random: Random): Ids {
  let lastMs = -1 // so that the first id is drawn also where time begins at 0
  const digits = new Uint8Array(timeLength + chanceLength)
  const text = Buffer.alloc(digits.length) // the same, spelled: most ids differ from the last one in their last digit
  const set = (at: number, digit: number): void => {
    digits[at] = digit
    text[at] = alphabet.charCodeAt(digit)
  }
  const drawAt = (ms: number): void => {
    let [rest, before] = [ms, lastMs] // digits that are as before stay
    for (let at = timeLength - 1; at >= 0 && rest !== before; at--) {
      set(at, rest % 32)
      rest = Math.floor(rest / 32)
      before = Math.floor(before / 32)
    }
    const chance = random.bytes(chanceLength)
    for (let at = 0; at < chanceLength; at++) set(timeLength + at, (chance[at] ?? 0) & (at === 0 ? 15 : 31)) // room to count up
  }
  const countUp = (): void => {
    for (let at = digits.length - 1; at >= timeLength; at--) {
      const digit = (digits[at] ?? 0) + 1
      set(at, digit & 31)
      if (digit < 32) return
    }
  }
  return (prefix) => {
    const nowMs = clock.nowMs()
    if (nowMs > lastMs) {
      drawAt(nowMs)
      lastMs = nowMs
    } else {
      countUp()
    }
    return [prefix, text.toString('latin1')].join('_') // in one piece, which is cheaper to whoever writes it as JSON
  }
}
