import { inCanonicalOrder } from './canonical.ts'
import type { JsonValue } from './document.ts'

const maxTextLength = 1024
const maxListLength = 100

/**
 * Callers choose user ids, paths and user agents: none of them may make an event large, or hold half a character that
 * cannot be written as UTF-8. Nearly all texts pass as they are.
 */
export function short(text: string): string
export function short(text: string | undefined): string | undefined
export function short(text: string | undefined): string | undefined {
  if (text === undefined || (text.length <= maxTextLength && text.isWellFormed())) return text
  const cut = text.length > maxTextLength ? `${text.slice(0, maxTextLength - 1)}…` : text
  return cut.toWellFormed()
}

/** At most a hundred of them. */
export const shortList = <T, U>(items: readonly T[], shorten: (item: T) => U): U[] =>
  (items.length > maxListLength ? items.slice(0, maxListLength) : items).map(shorten)

export const shortTexts = (texts: readonly string[]): string[] => shortList(texts, (text) => short(text))

/** The same for words that differ from event to event, with their members in canonical order. */
export const shortFields = (words: Words): Words => boundMembers(inCanonicalOrder(words))

type Words = { readonly [key: string]: JsonValue | undefined }

const boundMembers = (words: Words): Words =>
  Object.fromEntries(Object.entries(words).map(([key, value]) => [key, value === undefined ? value : bound(value)]))

function bound(value: JsonValue): JsonValue {
  if (typeof value === 'string') return short(value)
  if (isList(value)) return shortList(value, bound)
  return typeof value === 'object' && value !== null ? boundMembers(value) : value
}

const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)
