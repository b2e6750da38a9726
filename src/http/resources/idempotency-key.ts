import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { Fault } from '../../base/fault.ts'
import type { RepeatableRequest } from '../../domain/mutations/idempotency.ts'
import { pathOf } from '../family.ts'

const format = /^[!-~]{1,255}$/

/** The header schema of every mutation. */
export const IdempotencyHeaders = Type.Object({
  'Idempotency-Key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[!-~]+$',
      description:
        'Makes retries safe for 24 hours: the same request with the same key gets the stored response, with `Idempotent-Replayed: true`.',
      examples: ['7f0c2c1e-9a55-4b8e-8a0e-3c1f0a6e2f11'],
    }),
  ),
})

export type IdempotencyCaller = {
  readonly organizationId: string
  readonly credentialId: string
  readonly nowMs: number
}

/** Returns undefined if the request has no Idempotency-Key. */
export function repeatableRequest(request: FastifyRequest, caller: IdempotencyCaller): RepeatableRequest | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !format.test(key)) {
    const message = 'Idempotency-Key must be 1 to 255 visible ASCII characters.'
    throw new Fault('malformed', 'invalid_header', message, { param: 'Idempotency-Key' })
  }
  const { organizationId, credentialId, nowMs } = caller
  return { scope: { organizationId, credentialId, key }, fingerprint: fingerprintOf(request), nowMs }
}

/** Independent of whitespace and key order in the JSON. */
function fingerprintOf({ method, url, query, body }: FastifyRequest): string {
  const canonical = JSON.stringify([method, pathOf(url), inOrder(query), inOrder(body ?? null)])
  return createHash('sha256').update(canonical).digest('hex')
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const sorted = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return sorted.map(([key, item]) => [key, inOrder(item)])
}
