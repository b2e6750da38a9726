import { findNext } from './find.ts'
import { placeholders } from './placeholder.ts'
import { createPlaceholderMap, type PlaceholderMap } from './placeholder-map.ts'

/** Replaces all personal data with placeholders such as `[EMAIL_1]`. `restorePlaceholders` undoes it exactly. */
export function redact(text: string, placeholderMap: PlaceholderMap): string {
  let redacted = ''
  let at = 0
  for (let next = findNext(text, 0); next !== undefined; next = findNext(text, at)) {
    redacted += text.slice(at, next.start) + placeholderMap.placeholderFor(next.kind, text.slice(next.start, next.end))
    at = next.end
  }
  return at === 0 ? text : redacted + text.slice(at)
}

/** Replaces every placeholder of this map with the personal data it stands for. */
export function restorePlaceholders(text: string, placeholderMap: Pick<PlaceholderMap, 'valueOf'>): string {
  if (!text.includes('[')) return text
  return text.replace(placeholders, (placeholder) => placeholderMap.valueOf(placeholder) ?? placeholder)
}

/** Redacts a text for good: the placeholder map is discarded. Placeholders of an earlier redaction stay. */
export function redactIrreversibly(text: string): string {
  const { placeholderFor, ...map } = createPlaceholderMap()
  return redact(text, {
    ...map,
    placeholderFor: (kind, value) => (kind === 'literal' ? value : placeholderFor(kind, value)),
  })
}
