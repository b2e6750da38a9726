import type { AuditDocument } from './document.ts'

/** The sizes that a destination accepts without truncating silently. */
export type SizeLimits = { readonly fieldBytes: number; readonly eventBytes: number }

/** Below the limits of every destination for one field and one event. */
export const defaultSizeLimits: SizeLimits = { fieldBytes: 64_000, eventBytes: 256_000 }

const minFieldBytes = 256

/** Truncates long texts and marks the document, because destinations truncate without a mark. */
export function truncated<D extends AuditDocument>(document: D, limits: SizeLimits): D {
  const text = JSON.stringify(document)
  const size = Buffer.byteLength(text)
  if (size <= limits.eventBytes && size <= limits.fieldBytes) return document
  let fieldBytes = limits.fieldBytes
  let cut = cutFields(text, fieldBytes)
  while (Buffer.byteLength(cut) > limits.eventBytes && fieldBytes > minFieldBytes) {
    fieldBytes = Math.floor(fieldBytes / 2)
    cut = cutFields(text, fieldBytes)
  }
  if (cut === text) return document
  const short: D = JSON.parse(cut)
  return { ...short, metadata: { ...short.metadata, is_truncated: true, untruncated_size: size } }
}

const cutFields = (text: string, bytes: number): string =>
  JSON.stringify(
    JSON.parse(text, (_key, value: unknown) => (typeof value === 'string' ? cutText(value, bytes) : value)),
  )

/** Truncates to this number of UTF-8 bytes, without cutting a character in half. */
export function cutText(text: string, bytes: number): string {
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text
  const ellipsis = '…'
  const kept = Buffer.from(text).subarray(0, Math.max(0, bytes - Buffer.byteLength(ellipsis)))
  // A streaming decoder drops an incomplete character at the end; otherwise it would become U+FFFD.
  return new TextDecoder().decode(kept, { stream: true }) + ellipsis
}
