import { inCanonicalOrder } from './canonical.ts'
import type { JsonValue } from './document.ts'

const maxTextLength = 1024
const maxListLength = 100

/**
 * Limits the length of a text and replaces lone surrogates, because callers choose user ids, paths and user agents. Most texts
 * are returned unchanged.
 */
export function short(text: string): string
export function short(text: string | undefined): string | undefined
export function short(text: string | undefined): string | undefined {
  if (text === undefined || (text.length <= maxTextLength && text.isWellFormed())) return text
  const cut = text.length > maxTextLength ? `${text.slice(0, maxTextLength - 1)}…` : text
  return cut.toWellFormed()
}

/** The first hundred items at most. */
export const shortList = <T, U>(items: readonly T[], shorten: (item: T) => U): U[] =>
  (items.length > maxListLength ? items.slice(0, maxListLength) : items).map(shorten)

export const shortTexts = (texts: readonly string[]): string[] => shortList(texts, (text) => short(text))

/** Limits every text and list in an object of any shape, and sorts its members into canonical order. */
export const shortFields = (fields: Fields): Fields => limitMembers(inCanonicalOrder(fields))

type Fields = { readonly [key: string]: JsonValue | undefined }

const limitMembers = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, value === undefined ? value : limit(value)]))

function limit(value: JsonValue): JsonValue {
  if (typeof value === 'string') return short(value)
  if (isList(value)) return shortList(value, limit)
  return typeof value === 'object' && value !== null ? limitMembers(value) : value
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)
