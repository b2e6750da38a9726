import type { Dialect, ReasoningSignature } from '../../domain/inference/request.ts'

/**
 * Thinking must come back to its upstream with the proof that belongs to it. A dialect has room for its own kind of
 * proof only (`signature`, `encrypted_content`), so one of another dialect travels inside it, in this envelope.
 * It is not signed: the upstream that made the proof checks it.
 */
const mark = 'gw1.'

/**
 * A proof as the text that fits into a field of `dialect`. Where the proof belongs to an item by id and the caller
 * will know that item by another, its own dialect needs the envelope too.
 */
export function signatureText(proof: ReasoningSignature, dialect: Dialect, itemId = proof.id): string {
  const fits = proof.dialect === dialect && proof.id === itemId
  return fits ? proof.value : mark + Buffer.from(JSON.stringify(proof)).toString('base64url')
}

/** The proof that such a field holds. An envelope that cannot be read proves nothing. */
export function readSignature(text: string, dialect: Dialect): ReasoningSignature | undefined {
  if (text === '') return undefined
  if (!text.startsWith(mark)) return { dialect, value: text }
  try {
    const proof: unknown = JSON.parse(Buffer.from(text.slice(mark.length), 'base64url').toString())
    return isSignature(proof) ? proof : undefined
  } catch {
    return undefined
  }
}

/** True for a field that only we can read: it must not reach an upstream as it is. */
export const isEnvelope = (text: string): boolean => text.startsWith(mark)

const isSignature = (value: unknown): value is ReasoningSignature =>
  typeof value === 'object' &&
  value !== null &&
  'dialect' in value &&
  (value.dialect === 'messages' || value.dialect === 'responses' || value.dialect === 'chat') &&
  'value' in value &&
  typeof value.value === 'string' &&
  (!('id' in value) || typeof value.id === 'string') &&
  (!('redacted' in value) || typeof value.redacted === 'boolean')
