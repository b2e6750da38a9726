import { findNext } from './find.ts'
import { placeholders } from './placeholder.ts'
import { createPlaceholderMap, type PlaceholderMap } from './placeholder-map.ts'

/** The text with all personal data replaced by placeholders such as `[EMAIL_1]`. `restore` undoes it exactly. */
export function redact(text: string, vault: PlaceholderMap): string {
  let redacted = ''
  let at = 0
  for (let next = findNext(text, 0); next !== undefined; next = findNext(text, at)) {
    redacted += text.slice(at, next.start) + vault.placeholderFor(next.kind, text.slice(next.start, next.end))
    at = next.end
  }
  return at === 0 ? text : redacted + text.slice(at)
}

/** The text with every placeholder of this vault replaced by what it stands for. */
export function restorePlaceholders(text: string, vault: Pick<PlaceholderMap, 'valueOf'>): string {
  if (!text.includes('[')) return text
  return text.replace(placeholders, (placeholder) => vault.valueOf(placeholder) ?? placeholder)
}

/** A text of its own without its personal data, which nobody will ask for again. */
export const redactIrreversibly = (text: string): string => redact(text, createPlaceholderMap())
