import { isEnvelope } from '../inference/signature-envelope.ts'
import { proofOf } from './decode-item.ts'
import type { ResponsesBody, ResponsesItem } from './schema.ts'

/**
 * The caller's body for an upstream of the same dialect: every field as it came, less our own field. Reasoning whose
 * proof travelled in our envelope is given back as the upstream made it, or left out where another one made it.
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
