import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Dialect, ReasoningSignature } from '../../domain/inference/request.ts'
import { parseRecord, asText } from './json-values.ts'

/** What only the model that thought it can use. */
export type SignedReasoning = { readonly value: string; readonly text: string }

/** Who thought it: a proof is worth nothing to another model. */
export type ReasoningSource = { readonly dialect: Dialect; readonly model: string }

/**
 * Lets a caller of another dialect carry a proof for us. Its dialect has no room for the exact text that the proof
 * signs, nor for the model that made it, so both travel inside; the seal says that we wrote it.
 */
export type SignatureEncryption = {
  seal(proof: ReasoningSignature, thought: { readonly text: string; readonly model: string }): ReasoningSignature
  /** Undefined where it is not ours, was changed, or belongs to another model: the thinking is then left out. */
  open(proof: ReasoningSignature, thinker: ReasoningSource): SignedReasoning | undefined
}

/** The first key seals; all of them open, so that a conversation survives a rotation of the server secret. */
export function createSignatureEncryption(keys: () => readonly Uint8Array[]): SignatureEncryption {
  const macsOf = (text: string): string[] =>
    keys().map((key) => createHmac('sha256', key).update(text).digest('base64url'))
  return {
    seal(proof, { text, model }) {
      const sealed = JSON.stringify({ dialect: proof.dialect, value: proof.value, text, model })
      return { ...proof, value: `${macsOf(sealed)[0]}.${sealed}` }
    },
    open(proof, thinker) {
      const dot = proof.value.indexOf('.')
      const sealed = proof.value.slice(dot + 1)
      const mac = proof.value.slice(0, dot)
      if (proof.dialect !== thinker.dialect || !macsOf(sealed).some((own) => sameText(mac, own))) return undefined
      const content = parseRecord(sealed)
      if (content?.['dialect'] !== thinker.dialect || content['model'] !== thinker.model) return undefined
      return { value: asText(content['value']), text: asText(content['text']) }
    },
  }
}

function sameText(left: string, right: string): boolean {
  const [one, other] = [Buffer.from(left), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}
