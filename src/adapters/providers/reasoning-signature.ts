import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ReasoningSignature } from '../../domain/inference/request.ts'
import { parseRecord, asText } from './json-values.ts'

/** Thinking and the vendor's signature over it. Only the model that produced them accepts them. */
export type SignedReasoning = { readonly value: string; readonly text: string }

/** The upstream format and model that produced the thinking. */
export type ReasoningSource = { readonly format: string; readonly model: string }

/**
 * Lets a caller of another format carry a reasoning signature from one request to the next. That format has no field for
 * the exact text that was signed or for the model that signed it, so the envelope contains both. An HMAC over the content
 * proves that the gateway wrote it.
 */
export type SignatureEnvelope = {
  wrap(signature: ReasoningSignature, thinking: { readonly text: string; readonly model: string }): ReasoningSignature
  /** Undefined if the HMAC does not match or another model signed the thinking. The thinking is then dropped. */
  unwrap(signature: ReasoningSignature, source: ReasoningSource): SignedReasoning | undefined
}

/** The first key signs, and all keys verify, so that conversations survive a rotation of the server secret. */
export function createSignatureEnvelope(keys: () => readonly Uint8Array[]): SignatureEnvelope {
  const macsOf = (text: string): string[] =>
    keys().map((key) => createHmac('sha256', key).update(text).digest('base64url'))
  return {
    wrap(signature, { text, model }) {
      // Conversations of earlier versions contain this field name.
      const content = JSON.stringify({ dialect: signature.format, value: signature.value, text, model })
      return { ...signature, value: `${macsOf(content)[0]}.${content}` }
    },
    unwrap(signature, source) {
      const dot = signature.value.indexOf('.')
      const json = signature.value.slice(dot + 1)
      const mac = signature.value.slice(0, dot)
      if (signature.format !== source.format || !macsOf(json).some((expected) => sameText(mac, expected)))
        return undefined
      const content = parseRecord(json)
      if (content?.['dialect'] !== source.format || content['model'] !== source.model) return undefined
      return { value: asText(content['value']), text: asText(content['text']) }
    },
  }
}

function sameText(left: string, right: string): boolean {
  const [one, other] = [Buffer.from(left), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}
