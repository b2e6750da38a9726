import type { Dialect, ReasoningSignature } from '../../domain/inference/request.ts'

/**
 * Clients send thinking back with its reasoning signature. Each dialect has a field for its own kind of signature only
 * (`signature`, `encrypted_content`), so a signature of another dialect is put into that field in this envelope.
 * The envelope is not signed, because the upstream that made the signature verifies it.
 */
const prefix = 'gw1.'

/**
 * The signature as the text for a field of `dialect`. A signature that belongs to an item id needs the envelope even in
 * its own dialect if the caller sees the item under another id.
 */
export function signatureText(signature: ReasoningSignature, dialect: Dialect, itemId = signature.id): string {
  const isOwn = signature.dialect === dialect && signature.id === itemId
  return isOwn ? signature.value : prefix + Buffer.from(JSON.stringify(signature)).toString('base64url')
}

/** The signature in such a field. Undefined for an envelope that cannot be decoded. */
export function readSignature(text: string, dialect: Dialect): ReasoningSignature | undefined {
  if (text === '') return undefined
  if (!text.startsWith(prefix)) return { dialect, value: text }
  try {
    const signature: unknown = JSON.parse(Buffer.from(text.slice(prefix.length), 'base64url').toString())
    return isSignature(signature) ? signature : undefined
  } catch {
    return undefined
  }
}

/** True for a field in the gateway's own format, which must not be sent to an upstream. */
export const isEnvelope = (text: string): boolean => text.startsWith(prefix)

const isSignature = (value: unknown): value is ReasoningSignature =>
  typeof value === 'object' &&
  value !== null &&
  'dialect' in value &&
  (value.dialect === 'messages' || value.dialect === 'responses' || value.dialect === 'chat') &&
  'value' in value &&
  typeof value.value === 'string' &&
  (!('id' in value) || typeof value.id === 'string') &&
  (!('redacted' in value) || typeof value.redacted === 'boolean')
