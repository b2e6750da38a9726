/** National identity and tax numbers that carry a check, or a shape that hardly anything else has. */
import { endOfMatch, textBefore } from './look-behind.ts'
import { modulo97, passesLuhn, passesMod1110, passesVerhoeff, weighted } from './checksums.ts'

type NationalId = {
  readonly country: string
  readonly shape: RegExp
  /** Words that must stand shortly before it, where the shape alone is too common. */
  readonly cue?: RegExp
  /** Judges the letters and digits, without what separates them. */
  isValid(characters: string): boolean
}

const cue = (words: string): RegExp =>
  new RegExp(`(?<![a-z])(?:${words})(?![a-z])[^a-z\\n]{0,4}(?:[a-z]{1,6}[^a-z\\n]{1,3}){0,3}$`, 'i')

const nationalIds: readonly NationalId[] = [
  {
    country: 'US social security number',
    shape: /(?!000|666|9)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\w-])/y,
    isValid: () => true,
  },
  {
    country: 'US social security number',
    shape: /(?!000|666|9)\d{9}(?!\w)/y,
    cue: cue('ssn|social security'),
    isValid: () => true,
  },
  {
    country: 'UK national insurance number',
    shape: /(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D](?!\w)/y,
    isValid: () => true,
  },
  {
    country: 'UK NHS number',
    shape: /\d{3}[- ]?\d{3}[- ]?\d{4}(?![\w-])/y,
    cue: cue('nhs'),
    isValid: (digits) => (11 - (weighted(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 11 === Number(digits[9]),
  },
  {
    country: 'German tax number',
    shape: /[1-9]\d{10}(?!\w)|[1-9]\d \d{3} \d{3} \d{3}(?!\w)/y,
    isValid: (digits) =>
      new Set(digits.slice(0, 10)).size >= 8 && new Set(digits.slice(0, 10)).size <= 9 && passesMod1110(digits),
  },
  {
    country: 'French social security number',
    shape: /[12] ?\d{2} ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}(?!\w)/y,
    isValid: isFrenchNumber,
  },
  {
    country: 'Spanish identity number',
    shape: /(?:\d{8}|[XYZ]\d{7})-?[A-HJ-NP-TV-Z](?!\w)/y,
    isValid: isSpanishNumber,
  },
  {
    country: 'Italian tax code',
    shape: /[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z](?!\w)/y,
    isValid: isItalianCode,
  },
  {
    country: 'Dutch citizen number',
    shape: /\d{9}(?!\w)/y,
    cue: cue('bsn|burgerservicenummer'),
    isValid: (digits) => weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0,
  },
  { country: 'Brazilian tax number', shape: /\d{3}\.\d{3}\.\d{3}-\d{2}(?!\w)/y, isValid: isBrazilianNumber },
  { country: 'Brazilian tax number', shape: /\d{11}(?!\w)/y, cue: cue('cpf'), isValid: isBrazilianNumber },
  {
    country: 'Polish identity number',
    shape: /\d{11}(?!\w)/y,
    cue: cue('pesel'),
    isValid: (digits) => weighted(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0,
  },
  { country: 'Indian Aadhaar number', shape: /[2-9]\d{3}([- ])\d{4}\1\d{4}(?![\w-]| \d)/y, isValid: passesVerhoeff },
  {
    country: 'Indian Aadhaar number',
    shape: /[2-9]\d{11}(?!\w)/y,
    cue: cue('aadhaar|aadhar'),
    isValid: passesVerhoeff,
  },
  {
    country: 'Swedish personal number',
    shape: /(?:19|20)?\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[-+]\d{4}(?!\w)/y,
    isValid: (digits) => passesLuhn(digits.slice(-10)),
  },
  {
    country: 'Finnish personal code',
    shape: /(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d{2}[-+A]\d{3}[0-9A-FHJ-NPR-Y](?!\w)/y,
    isValid: isFinnishCode,
  },
  {
    country: 'Canadian social insurance number',
    shape: /[1-79]\d{2}([- ])\d{3}\1\d{3}(?![\w-]| \d)/y,
    isValid: passesLuhn,
  },
  {
    country: 'Australian tax file number',
    shape: /\d{3} ?\d{3} ?\d{3}(?!\w)/y,
    cue: cue('tfn|tax file'),
    isValid: (digits) => weighted(digits, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0,
  },
  {
    country: 'Chinese identity number',
    shape: /[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dX](?!\w)/y,
    isValid: isChineseNumber,
  },
  {
    country: 'Swiss insurance number',
    shape: /756\.\d{4}\.\d{4}\.\d{2}(?!\w)/y,
    isValid: (digits) => weighted(digits, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0,
  },
  {
    country: 'Belgian national number',
    shape: /\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}(?!\w)/y,
    isValid: (digits) =>
      [digits, `2${digits}`].some((full) => 97 - (Number(full.slice(0, -2)) % 97) === Number(full.slice(-2))),
  },
]

/** End of the national number that begins here, or -1. */
export function findNationalId(text: string, start: number): number {
  for (const { shape, cue: needed, isValid } of nationalIds) {
    const end = endOfMatch(shape, text, start)
    if (end < 0 || !isValid(text.slice(start, end).replace(/[^A-Z0-9]/g, ''))) continue
    if (needed === undefined || needed.test(textBefore(text, start))) return end
  }
  return -1
}

function isFrenchNumber(characters: string): boolean {
  const corsican: Readonly<Record<string, string>> = { A: '19', B: '18' }
  const digits = characters.replace(/2([AB])/, (_, letter: string) => corsican[letter] ?? '')
  return 97 - modulo97(digits.slice(0, 13)) === Number(digits.slice(13))
}

function isSpanishNumber(characters: string): boolean {
  const digits = characters.slice(0, -1).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter)))
  return 'TRWAGMYFPDXBNJZSQVHLCKE'[Number(digits) % 23] === characters.at(-1)
}

function isItalianCode(characters: string): boolean {
  const odd = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23]
  let sum = 0
  for (let at = 0; at < 15; at++) {
    const value = Number.parseInt(characters[at] ?? '0', 36)
    const place = value > 9 ? value - 10 : value
    sum += at % 2 === 0 ? (odd[place] ?? 0) : place
  }
  return String.fromCharCode(65 + (sum % 26)) === characters[15]
}

function isBrazilianNumber(digits: string): boolean {
  if (new Set(digits).size === 1) return false
  const check = (length: number): number => {
    const weights = Array.from({ length }, (_, at) => length + 1 - at)
    return ((weighted(digits, weights) * 10) % 11) % 10
  }
  return check(9) === Number(digits[9]) && check(10) === Number(digits[10])
}

function isFinnishCode(characters: string): boolean {
  const digits = characters.replace(/A(?=\d{3}.$)/, '')
  return '0123456789ABCDEFHJKLMNPRSTUVWXY'[Number(digits.slice(0, 9)) % 31] === digits.at(-1)
}

function isChineseNumber(characters: string): boolean {
  const rest = weighted(characters, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]) % 11
  return '10X98765432'[rest] === characters[17]
}
