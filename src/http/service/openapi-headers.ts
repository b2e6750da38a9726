import { describeGatewayHeaders, namesOf } from '../gateway-headers.ts'
import type { EndpointFamily, Route } from '../route.ts'
import type { Json } from './openapi-components.ts'

const header = (type: 'string' | 'integer', description: string, example: string | number): Json => ({
  description,
  schema: { type, examples: [example] },
})

/** Standard response headers, and those that clients of other gateways know. */
const headers = {
  'X-Request-Id': header('string', 'Names the request in the log.', 'req_01k9z8y7x6w5v4t3s2r1q0p9n8'),
  'Request-Id': header('string', 'The same id, as Anthropic’s clients read it.', 'req_01k9z8y7x6w5v4t3s2r1q0p9n8'),
  'WWW-Authenticate': header('string', 'The authentication scheme that is required.', 'Bearer realm="gatehouse"'),
  'Retry-After': header('integer', 'Seconds to wait before the next attempt.', 12),
  'X-Should-Retry': header('string', '`false` if the same request would fail again.', 'false'),
  'X-RateLimit-Limit': header('integer', 'The limit that was exceeded.', 120),
  'X-RateLimit-Remaining': header('integer', 'What remains of that limit.', 0),
  'X-RateLimit-Reset': header('integer', 'When capacity is available again, in Unix seconds.', 1_767_225_600),
  'X-RateLimit-Scope': header('string', 'The scope of that limit: `credential` or `organization`.', 'credential'),
  'X-RateLimit-Metric': header('string', 'What that limit counts: `requests` or `concurrent_requests`.', 'requests'),
  'X-RateLimit-Limit-Requests': header('integer', 'The request limit that is closest to being reached.', 60),
  'X-RateLimit-Remaining-Requests': header('integer', 'Requests that remain of it.', 59),
  'X-RateLimit-Reset-Requests': header('string', 'Time until it is unused again.', '6s'),
  'X-RateLimit-Limit-Tokens': header('integer', 'The token limit that is closest to being reached.', 1_000_000),
  'X-RateLimit-Remaining-Tokens': header('integer', 'Tokens that remain of it.', 998_700),
  'X-RateLimit-Reset-Tokens': header('string', 'Time until it is unused again.', '1m30s'),
  'X-RateLimit-Limit-Project-Tokens': header('integer', 'The token limit, if it is the project’s.', 1_000_000),
  'X-RateLimit-Remaining-Project-Tokens': header('integer', 'Tokens that remain of it.', 998_700),
  'X-RateLimit-Reset-Project-Tokens': header('string', 'Time until it is unused again.', '250ms'),
  ETag: header('string', 'Names this state of the object, for `If-None-Match` and `If-Match`.', '"3"'),
  'Idempotent-Replayed': header(
    'string',
    '`true` if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    'true',
  ),
} as const satisfies Json

/** `components.headers`. */
export const allHeaders: Json = { ...headers, ...describeGatewayHeaders() }

type HeaderName = keyof typeof headers

const administrationLimit: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-RateLimit-Scope',
  'X-RateLimit-Metric',
]

const inferenceLimits: readonly HeaderName[] = (['Requests', 'Tokens', 'Project-Tokens'] as const).flatMap((what) => [
  `X-RateLimit-Limit-${what}` as const,
  `X-RateLimit-Remaining-${what}` as const,
  `X-RateLimit-Reset-${what}` as const,
])

const waitStatuses: ReadonlySet<number> = new Set([429, 503, 529])

/** References to the headers that a route's response with this status may carry. */
export function headersOf(route: Route, family: EndpointFamily, status: number): Json {
  const own = (route.answers[status]?.headers ?? []).flatMap(namesOf)
  const ofError = status >= 400 ? namesOf('x-gatehouse-error-code') : []
  const names = [...standardHeaders(route, family, status), ...ofError, ...own]
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function standardHeaders(route: Route, family: EndpointFamily, status: number): HeaderName[] {
  const { credential, onRejectedBody } = route
  const isAdministration = credential === 'admin_key' || credential === 'gateway'
  // The limits are known once the caller is.
  const isCounted = onRejectedBody !== undefined && status !== 401
  return [
    'X-Request-Id',
    ...(family.hasRequestIdHeader ? ['Request-Id' as const] : []),
    ...(status === 401 ? ['WWW-Authenticate' as const] : []),
    ...(waitStatuses.has(status) ? ['Retry-After' as const] : []),
    ...(status === 429 && isAdministration ? administrationLimit : []),
    ...(status >= 400 && onRejectedBody !== undefined ? ['X-Should-Retry' as const] : []),
    ...(isCounted ? inferenceLimits : []),
    ...(status < 300 && takes(route.headers, 'Idempotency-Key') ? ['Idempotent-Replayed' as const] : []),
    ...(status < 400 && isTagged(route.headers) ? ['ETag' as const] : []),
  ]
}

const takes = (schema: Route['headers'], name: string): boolean =>
  schema !== undefined && 'properties' in schema && Object.hasOwn(Object(schema.properties), name)

const isTagged = (schema: Route['headers']): boolean => takes(schema, 'If-None-Match') || takes(schema, 'If-Match')
