import type { CallerFormat } from '../../domain/inference/formats.ts'
import type { ReasoningSignature } from '../../domain/inference/request.ts'

/**
 * Clients send thinking back with its reasoning signature. Each caller format has a field for its own kind of
 * signature only (`signature`, `encrypted_content`), so a signature of another format is put into that field in this envelope.
 * The envelope is not signed, because the upstream that made the signature verifies it.
 */
const prefix = 'gw1.'

/**
 * The signature as the text for a field of `dialect`. A signature that belongs to an item id needs the envelope even in
 * its own format if the caller sees the item under another id.
 */
export function signatureText(signature: ReasoningSignature, dialect: CallerFormat, itemId = signature.id): string {
  if (signature.format === dialect && signature.id === itemId) return signature.value
  const { format, ...rest } = signature
  // Conversations of earlier versions contain this field name.
  return prefix + Buffer.from(JSON.stringify({ dialect: format, ...rest })).toString('base64url')
}

/** The signature in such a field. Undefined for an envelope that cannot be decoded. */
export function readSignature(text: string, dialect: CallerFormat): ReasoningSignature | undefined {
  if (text === '') return undefined
  if (!text.startsWith(prefix)) return { format: dialect, value: text }
  try {
    const content: unknown = JSON.parse(Buffer.from(text.slice(prefix.length), 'base64url').toString())
    if (!isContent(content)) return undefined
    const { dialect: format, ...rest } = content
    return { format, ...rest }
  } catch {
    return undefined
  }
}

/** True for a field in the gateway's own format, which must not be sent to an upstream. */
export const isEnvelope = (text: string): boolean => text.startsWith(prefix)

/** Any format is accepted: a provider ignores signatures of formats other than its own. */
const isContent = (value: unknown): value is Omit<ReasoningSignature, 'format'> & { readonly dialect: string } =>
  typeof value === 'object' &&
  value !== null &&
  'dialect' in value &&
  typeof value.dialect === 'string' &&
  'value' in value &&
  typeof value.value === 'string' &&
  (!('id' in value) || typeof value.id === 'string') &&
  (!('redacted' in value) || typeof value.redacted === 'boolean')
