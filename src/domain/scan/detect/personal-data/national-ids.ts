/** National identity and tax numbers that have a check digit or a distinctive format. */
import { endOfMatch, textBefore } from './look-behind.ts'
import { modulo97, passesLuhn, passesMod1110, passesVerhoeff, weighted } from './checksums.ts'

type NationalId = {
  readonly country: string
  readonly format: RegExp
  /** A label that must precede the number if its format alone is too common. */
  readonly label?: RegExp
  /** Validates the letters and digits, without separators. */
  isValid(characters: string): boolean
}

const label = (words: string): RegExp =>
  new RegExp(`(?<![a-z])(?:${words})(?![a-z])[^a-z\\n]{0,4}(?:[a-z]{1,6}[^a-z\\n]{1,3}){0,3}$`, 'i')

const nationalIds: readonly NationalId[] = [
  {
    country: 'US social security number',
    format: /(?!000|666|9)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\w-])/y,
    isValid: () => true,
  },
  {
    country: 'US social security number',
    format: /(?!000|666|9)\d{9}(?!\w)/y,
    label: label('ssn|social security'),
    isValid: () => true,
  },
  {
    country: 'UK national insurance number',
    format: /(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D](?!\w)/y,
    isValid: () => true,
  },
  {
    country: 'UK NHS number',
    format: /\d{3}[- ]?\d{3}[- ]?\d{4}(?![\w-])/y,
    label: label('nhs'),
    isValid: (digits) => (11 - (weighted(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 11 === Number(digits[9]),
  },
  {
    country: 'German tax number',
    format: /[1-9]\d{10}(?!\w)|[1-9]\d \d{3} \d{3} \d{3}(?!\w)/y,
    isValid: (digits) =>
      new Set(digits.slice(0, 10)).size >= 8 && new Set(digits.slice(0, 10)).size <= 9 && passesMod1110(digits),
  },
  {
    country: 'French social security number',
    format: /[12] ?\d{2} ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}(?!\w)/y,
    isValid: isFrenchNumber,
  },
  {
    country: 'Spanish identity number',
    format: /(?:\d{8}|[XYZ]\d{7})-?[A-HJ-NP-TV-Z](?!\w)/y,
    isValid: isSpanishNumber,
  },
  {
    country: 'Italian tax code',
    format: /[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z](?!\w)/y,
    isValid: isItalianCode,
  },
  {
    country: 'Dutch citizen number',
    format: /\d{9}(?!\w)/y,
    label: label('bsn|burgerservicenummer'),
    isValid: (digits) => weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0,
  },
  { country: 'Brazilian tax number', format: /\d{3}\.\d{3}\.\d{3}-\d{2}(?!\w)/y, isValid: isBrazilianNumber },
  { country: 'Brazilian tax number', format: /\d{11}(?!\w)/y, label: label('cpf'), isValid: isBrazilianNumber },
  {
    country: 'Polish identity number',
    format: /\d{11}(?!\w)/y,
    label: label('pesel'),
    isValid: (digits) => weighted(digits, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0,
  },
  { country: 'Indian Aadhaar number', format: /[2-9]\d{3}([- ])\d{4}\1\d{4}(?![\w-]| \d)/y, isValid: passesVerhoeff },
  {
    country: 'Indian Aadhaar number',
    format: /[2-9]\d{11}(?!\w)/y,
    label: label('aadhaar|aadhar'),
    isValid: passesVerhoeff,
  },
  {
    country: 'Swedish personal number',
    format: /(?:19|20)?\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[-+]\d{4}(?!\w)/y,
    isValid: (digits) => passesLuhn(digits.slice(-10)),
  },
  {
    country: 'Finnish personal code',
    format: /(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])\d{2}[-+A]\d{3}[0-9A-FHJ-NPR-Y](?!\w)/y,
    isValid: isFinnishCode,
  },
  {
    country: 'Canadian social insurance number',
    format: /[1-79]\d{2}([- ])\d{3}\1\d{3}(?![\w-]| \d)/y,
    isValid: passesLuhn,
  },
  {
    country: 'Australian tax file number',
    format: /\d{3} ?\d{3} ?\d{3}(?!\w)/y,
    label: label('tfn|tax file'),
    isValid: (digits) => weighted(digits, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0,
  },
  {
    country: 'Chinese identity number',
    format: /[1-9]\d{5}(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dX](?!\w)/y,
    isValid: isChineseNumber,
  },
  {
    country: 'Swiss insurance number',
    format: /756\.\d{4}\.\d{4}\.\d{2}(?!\w)/y,
    isValid: (digits) => weighted(digits, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0,
  },
  {
    country: 'Belgian national number',
    format: /\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}(?!\w)/y,
    isValid: (digits) =>
      [digits, `2${digits}`].some((full) => 97 - (Number(full.slice(0, -2)) % 97) === Number(full.slice(-2))),
  },
]

/** End of the national number that begins here, or -1. */
export function findNationalId(text: string, start: number): number {
  for (const { format, label: requiredLabel, isValid } of nationalIds) {
    const end = endOfMatch(format, text, start)
    if (end < 0 || !isValid(text.slice(start, end).replace(/[^A-Z0-9]/g, ''))) continue
    if (requiredLabel === undefined || requiredLabel.test(textBefore(text, start))) return end
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
