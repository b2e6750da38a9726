import { createJsonReader } from '../../base/json-reader.ts'
import { isRecord } from '../../base/record.ts'

/** Helpers for unvalidated JSON of an upstream. A value of the wrong type reads as absent and never throws. */
export type JsonRecord = Readonly<Record<string, unknown>>

export const asRecord = (value: unknown): JsonRecord | undefined => (isRecord(value) ? value : undefined)

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Usually all items of a list are records, and then it is not copied. */
export function asRecords(value: unknown): readonly JsonRecord[] {
  const list = asList(value)
  return list.every(isRecord) ? list : list.filter(isRecord)
}

/** Returns an empty string if the value is not a string. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** More tokens than any response has. A larger number is not a count. */
const maxCount = 1e9

/** Any number, plausible or not. */
export const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

/** A token count or a list index: an integer from 0. */
export const asCount = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= maxCount ? Math.floor(value) : undefined

const byteOrderMark = 0xfeff

/** Longer JSON is parsed with a limit on the number of values, because `JSON.parse` takes seconds for millions of them. */
export const longText = 256 * 1024
const maxValues = 100_000

/** Undefined if the text is not a JSON object, or is long and has too many values. A byte order mark is ignored. */
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

export const isNonEmptyText = (value: unknown): value is string => typeof value === 'string' && value !== ''
