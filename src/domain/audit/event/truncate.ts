import type { AuditDocument } from './document.ts'

/** What a destination takes without cutting by itself and calling it success. */
export type SizeLimits = { readonly fieldBytes: number; readonly eventBytes: number }

/** Below every destination's own limit for one field and one event. */
export const defaultSizeLimits: SizeLimits = { fieldBytes: 64_000, eventBytes: 256_000 }

const shortestCutBytes = 256

/** Cuts long texts and says so, before the destination does it and does not say so. */
export function truncated<D extends AuditDocument>(document: D, cap: SizeLimits): D {
  const text = JSON.stringify(document)
  const size = Buffer.byteLength(text)
  if (size <= cap.eventBytes && size <= cap.fieldBytes) return document
  let fieldBytes = cap.fieldBytes
  let cut = cutFields(text, fieldBytes)
  while (Buffer.byteLength(cut) > cap.eventBytes && fieldBytes > shortestCutBytes) {
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

/** At most so many bytes of UTF-8, never half a character. */
export function cutText(text: string, bytes: number): string {
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text
  const ellipsis = '…'
  const kept = Buffer.from(text).subarray(0, Math.max(0, bytes - Buffer.byteLength(ellipsis)))
  // A streaming decoder keeps an unfinished character back instead of replacing it.
  return new TextDecoder().decode(kept, { stream: true }) + ellipsis
}
