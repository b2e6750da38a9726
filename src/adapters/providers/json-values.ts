import { createJsonReader } from '../../base/json-reader.ts'
import { isRecord } from '../../base/record.ts'

/** Reading JSON that an upstream sent and nobody has checked: a wrong type reads as absent, never as a crash. */
export type JsonRecord = Readonly<Record<string, unknown>>

export const asRecord = (value: unknown): JsonRecord | undefined => (isRecord(value) ? value : undefined)

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const asRecords = (value: unknown): readonly JsonRecord[] => asList(value).filter(isRecord)

/** Empty where it is no string. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** More tokens than any answer has: an upstream that says so has not counted. */
const mostCounted = 1e9

/** A number as it was said, be it a count or not. */
export const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

/** A count of tokens or a place in a list: a whole number from 0 on. */
export const asCount = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= mostCounted ? Math.floor(value) : undefined

const byteOrderMark = 0xfeff

/** Beyond this, what a text can hold is worth bounding: the native parser takes seconds for millions of values. */
export const longText = 256 * 1024
const maxValues = 100_000

/** Undefined where the text is no JSON object, or a long one of too many values. A byte order mark is no part of it. */
export function parseRecord(text: string): JsonRecord | undefined {
  try {
    const json = withoutMark(text)
    return asRecord(json.length > longText ? parseBounded(json) : JSON.parse(json))
  } catch {
    return undefined
  }
}

function parseBounded(text: string): unknown {
  const reader = createJsonReader(maxValues)
  reader.push(text)
  return reader.end()
}

export const withoutMark = (text: string): string => (text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text)
