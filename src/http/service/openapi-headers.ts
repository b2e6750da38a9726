import type { Route } from '../route.ts'

type Json = Record<string, unknown>

const header = (type: 'string' | 'integer', description: string, example: string | number): Json => ({
  description,
  schema: { type, examples: [example] },
})

/** Headers that answers carry, each written once. */
export const headers = {
  'X-Request-Id': header('string', 'Names the request in the log.', 'req_01k9z8y7x6w5v4t3s2r1q0p9n8'),
  'WWW-Authenticate': header('string', 'The scheme that is required.', 'Bearer realm="gatehouse"'),
  'Retry-After': header('integer', 'Seconds to wait before the next attempt.', 12),
  'X-RateLimit-Limit': header('integer', 'The limit that stands in the way.', 120),
  'X-RateLimit-Remaining': header('integer', 'What is left of it.', 0),
  'X-RateLimit-Reset': header('integer', 'When something is left again, in Unix seconds.', 1_767_225_600),
  'X-RateLimit-Scope': header('string', 'Whose limit it is: `credential` or `organization`.', 'credential'),
  'X-RateLimit-Metric': header('string', 'What it counts: `requests` or `concurrent_requests`.', 'requests'),
  'Idempotent-Replayed': header('string', '`true` where this is the answer to an earlier request.', 'true'),
} as const satisfies Json

type Name = keyof typeof headers

const managingLimit: readonly Name[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-RateLimit-Scope',
  'X-RateLimit-Metric',
]

/** The headers of one of a route's answers, as references. */
export function headersOf({ credential, headers: asked }: Route, status: number): Json {
  const isManaging = credential === 'admin_key' || credential === 'gateway'
  const names: readonly Name[] = [
    'X-Request-Id',
    ...(status === 401 ? ['WWW-Authenticate' as const] : []),
    ...(status === 429 ? ['Retry-After' as const, ...(isManaging ? managingLimit : [])] : []),
    ...(status < 300 && takesIdempotencyKey(asked) ? ['Idempotent-Replayed' as const] : []),
  ]
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

const takesIdempotencyKey = (asked: Route['headers']): boolean =>
  asked !== undefined && 'properties' in asked && Object.hasOwn(Object(asked.properties), 'Idempotency-Key')
