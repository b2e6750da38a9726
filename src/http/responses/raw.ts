import { isEnvelope } from '../inference/signature-envelope.ts'
import { proofOf } from './decode-item.ts'
import type { ResponsesBody, ResponsesItem } from './schema.ts'

/**
 * The caller's body for an upstream of the same dialect: unchanged, without the gateway's own field. Signatures in the
 * gateway's envelope are unwrapped if this dialect made them; reasoning of another dialect is left out.
 */
export function withoutGatewayItems(body: ResponsesBody): Readonly<Record<string, unknown>> {
  const rest = { ...body }
  delete rest.flagged_categories
  return Array.isArray(body.input) ? { ...rest, input: body.input.flatMap(unwrapped) } : rest
}

function unwrapped(item: ResponsesItem): ResponsesItem[] {
  if (item.type !== 'reasoning' || !isEnvelope(item.encrypted_content ?? '')) return [item]
  const proof = proofOf(item)
  if (proof?.dialect !== 'responses') return []
  return [{ ...item, encrypted_content: proof.value, ...(proof.id !== undefined && { id: proof.id }) }]
}
