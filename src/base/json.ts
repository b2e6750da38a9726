import { isUtf8 } from 'node:buffer'
import { Fault } from './fault.ts'
import { isRecord } from './record.ts'

const maxDepth = 100
const maxKeys = 200_000
/** A body up to this size cannot have too many keys, and is safe to parse at any depth. */
const safeBytes = 128 * 1024

const quote = 0x22
const backslash = 0x5c

/**
 * Parses a body as a JSON object. It rejects what would cause harm later: invalid UTF-8 (which Node replaces silently by U+FFFD),
 * nesting that `JSON.stringify` cannot write, `__proto__` and `constructor.prototype` keys, lone surrogates and NUL.
 */
export function parseJsonObject(bytes: Buffer): Record<string, unknown> {
  if (!isUtf8(bytes)) throw invalid('The body is not valid UTF-8.')
  if (bytes.length > safeBytes) checkStructure(bytes)
  const text = bytes.toString('utf8')
  const value = parse(text)
  if (!isRecord(value)) throw invalid('The body must be a JSON object.')
  checkDepth(value, maxDepth)
  // In valid UTF-8 only an escape can make a lone surrogate or NUL, and both forbidden keys contain `proto`.
  if (text.includes('\\u') || text.includes('proto')) checkStrings(value)
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalid('The body is not valid JSON.', cause)
  }
}

/** Counts depth and keys before parsing. A native search skips strings, so long texts cost little. */
function checkStructure(bytes: Buffer): void {
  let depth = 0
  let keys = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      at = endOfString(bytes, at)
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > maxDepth) throw tooDeep()
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--
    } else if (byte === 0x3a && ++keys > maxKeys) {
      throw invalid(`The body has more than ${maxKeys} keys.`)
    }
  }
}

/** Checks the depth after parsing, which is much cheaper for a small body. */
function checkDepth(value: object, left: number): void {
  if (left === 0) throw tooDeep()
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof item === 'object' && item !== null) checkDepth(item, left - 1)
  }
}

/** The index of the quote that ends the string starting at `start`, or the end of the bytes. */
function endOfString(bytes: Buffer, start: number): number {
  let at = start
  for (;;) {
    at = bytes.indexOf(quote, at + 1)
    if (at === -1) return bytes.length
    let slashes = 0
    while (bytes[at - 1 - slashes] === backslash) slashes++
    if (slashes % 2 === 0) return at
  }
}

function checkStrings(value: unknown): void {
  if (typeof value === 'string') checkString(value)
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) checkStrings(item)
    return
  }
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') throw invalid('The key __proto__ is not allowed.')
    if (key === 'constructor' && typeof item === 'object' && item !== null && Object.hasOwn(item, 'prototype')) {
      throw invalid('The key constructor.prototype is not allowed.')
    }
    checkString(key)
    checkStrings(item)
  }
}

function checkString(text: string): void {
  if (!text.isWellFormed()) throw invalid('The body contains half of a surrogate pair, which is not a character.')
  if (text.includes('\0')) throw invalid('The body contains a NUL character.')
}

const tooDeep = (): Fault => invalid(`The body is nested more than ${maxDepth} levels deep.`)

const invalid = (message: string, cause?: unknown): Fault =>
  new Fault('malformed', 'invalid_json', message, cause === undefined ? {} : { cause })
