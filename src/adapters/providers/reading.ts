import { isRecord } from '../../base/record.ts'

/** Reading JSON that an upstream sent and nobody has checked: a wrong type reads as absent, never as a crash. */
export type Json = Readonly<Record<string, unknown>>

export const recordOf = (value: unknown): Json | undefined => (isRecord(value) ? value : undefined)

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const recordsOf = (value: unknown): readonly Json[] => listOf(value).filter(isRecord)

/** Empty where it is no string. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** More tokens than any answer has: an upstream that says so has not counted. */
const mostCounted = 1e9

/** A count of tokens or a place in a list: a whole number from 0 on. */
export const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= mostCounted ? Math.floor(value) : undefined

const byteOrderMark = 0xfeff

/** Undefined where the text is no JSON object. A byte order mark before it is no part of it. */
export function parseRecord(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text)
    return recordOf(value)
  } catch {
    return undefined
  }
}
