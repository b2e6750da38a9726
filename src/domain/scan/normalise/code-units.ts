/** UTF-16 code units. A chunk of a text may end between the two halves of a surrogate pair. */

export const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00

export const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code < 0xe000

/** The code point of a surrogate pair. */
export const codePointOf = (high: number, low: number): number => (high - 0xd800) * 0x400 + low - 0xdc00 + 0x10000

/** True if the first half of a surrogate pair is the last code unit. */
export const endsInHighSurrogate = (text: string): boolean => isHighSurrogate(text.charCodeAt(text.length - 1))

export const lowerAscii = (code: number): number => (code >= 65 && code <= 90 ? code + 32 : code)
