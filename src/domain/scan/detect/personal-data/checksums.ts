/** Check digit algorithms. Digits are text, because leading zeros count. */

const digitAt = (digits: string, at: number): number => digits.charCodeAt(at) - 48

/** Sum of each digit times its weight. */
export function weighted(digits: string, weights: readonly number[]): number {
  let sum = 0
  for (const [at, weight] of weights.entries()) sum += digitAt(digits, at) * weight
  return sum
}

/** ISO/IEC 7812: payment cards, and some national numbers. */
export function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = digitAt(digits, digits.length - 1 - at)
    sum += at % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2
  }
  return sum % 10 === 0
}

/** The remainder of a number of any length divided by 97; letters count as 10 to 35. */
export function modulo97(characters: string): number {
  let remainder = 0
  for (const character of characters) {
    const value = Number.parseInt(character, 36)
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97
  }
  return remainder
}

/** ISO/IEC 7064, MOD 11,10. */
export function passesMod1110(digits: string): boolean {
  let product = 10
  for (let at = 0; at < digits.length - 1; at++) {
    const sum = (digitAt(digits, at) + product) % 10
    product = ((sum === 0 ? 10 : sum) * 2) % 11
  }
  return (11 - product) % 10 === digitAt(digits, digits.length - 1)
}

const verhoeffProduct = [
  '0123456789',
  '1234067895',
  '2340178956',
  '3401289567',
  '4012395678',
  '5987604321',
  '6598710432',
  '7659821043',
  '8765932104',
  '9876543210',
]
const verhoeffPermutation = [
  '0123456789',
  '1576283094',
  '5803796142',
  '8916043527',
  '9453126870',
  '4286573901',
  '2793806415',
  '7046913258',
]

export function passesVerhoeff(digits: string): boolean {
  let check = 0
  for (let at = 0; at < digits.length; at++) {
    const permuted = digitAt(verhoeffPermutation[at % 8] ?? '', digitAt(digits, digits.length - 1 - at))
    check = digitAt(verhoeffProduct[check] ?? '', permuted)
  }
  return check === 0
}
