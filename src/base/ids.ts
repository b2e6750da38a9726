import type { Clock } from './clock.ts'
import type { Random } from './random.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz' // Crockford's base32: sorts like the number it spells

/** Makes ids such as `pol_01h…`: a prefix, 48 bits of time, 80 bits of chance. They sort by creation. */
export type Ids = (prefix: string) => string

/**
 * Ids made in one process always ascend: within one millisecond, and after the clock stepped back,
 * the chance part of the last id is counted up instead of drawn anew.
 */
export function createIds(clock: Clock, random: Random): Ids {
  let lastMs = 0
  const chance = new Uint8Array(16) // sixteen base32 digits
  const draw = (): void => {
    const bytes = random.bytes(16)
    for (let at = 0; at < 16; at++) chance[at] = (bytes[at] ?? 0) & 31
    chance[0] = (chance[0] ?? 0) & 15 // room to count up
  }
  const countUp = (): void => {
    for (let at = 15; at >= 0; at--) {
      const digit = (chance[at] ?? 0) + 1
      chance[at] = digit & 31
      if (digit < 32) return
    }
  }
  return (prefix) => {
    const nowMs = clock.nowMs()
    if (nowMs > lastMs) {
      lastMs = nowMs
      draw()
    } else {
      countUp()
    }
    return `${prefix}_${timeDigits(lastMs)}${chanceDigits(chance)}`
  }
}

function timeDigits(ms: number): string {
  let digits = ''
  let rest = ms
  for (let at = 0; at < 10; at++) {
    digits = alphabet[rest % 32] + digits
    rest = Math.floor(rest / 32)
  }
  return digits
}

function chanceDigits(chance: Uint8Array): string {
  let digits = ''
  for (const digit of chance) digits += alphabet[digit]
  return digits
}
