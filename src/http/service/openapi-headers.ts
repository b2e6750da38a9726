import { describeGatewayHeaders, namesOf } from '../gateway-headers.ts'
import type { Route } from '../route.ts'

type Json = Record<string, unknown>

const header = (type: 'string' | 'integer', description: string, example: string | number): Json => ({
  description,
  schema: { type, examples: [example] },
})

/** Standard response headers, and those that clients of other gateways know. */
const headers = {
  'X-Request-Id': header('string', 'Names the request in the log.', 'req_01k9z8y7x6w5v4t3s2r1q0p9n8'),
  'WWW-Authenticate': header('string', 'The scheme that is required.', 'Bearer realm="gatehouse"'),
  'Retry-After': header('integer', 'Seconds to wait before the next attempt.', 12),
  'X-RateLimit-Limit': header('integer', 'The limit that was exceeded.', 120),
  'X-RateLimit-Remaining': header('integer', 'What remains of the limit.', 0),
  'X-RateLimit-Reset': header('integer', 'When capacity is available again, in Unix seconds.', 1_767_225_600),
  'X-RateLimit-Scope': header('string', 'Whose limit it is: `credential` or `organization`.', 'credential'),
  'X-RateLimit-Metric': header('string', 'What it counts: `requests` or `concurrent_requests`.', 'requests'),
  'Idempotent-Replayed': header('string', '`true` where this is the answer to an earlier request.', 'true'),
} as const satisfies Json

/** `components.headers`. */
export const allHeaders: Json = { ...headers, ...describeGatewayHeaders() }

type Name = keyof typeof headers

const administrationLimit: readonly Name[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-RateLimit-Scope',
  'X-RateLimit-Metric',
]

/** References to the headers that a route's response with this status carries. */
export function headersOf({ credential, headers: requestHeaders, answers }: Route, status: number): Json {
  const isAdministration = credential === 'admin_key' || credential === 'gateway'
  const standard: readonly Name[] = [
    'X-Request-Id',
    ...(status === 401 ? ['WWW-Authenticate' as const] : []),
    ...(status === 429 ? ['Retry-After' as const, ...(isAdministration ? administrationLimit : [])] : []),
    ...(status < 300 && takesIdempotencyKey(requestHeaders) ? ['Idempotent-Replayed' as const] : []),
  ]
  const names = [...standard, ...(answers[status]?.headers ?? []).flatMap(namesOf)]
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

const takesIdempotencyKey = (schema: Route['headers']): boolean =>
  schema !== undefined && 'properties' in schema && Object.hasOwn(Object(schema.properties), 'Idempotency-Key')
