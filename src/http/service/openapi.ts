import Type, { type TSchema } from 'typebox'
import { describeGatewayHeaders, namesOf } from '../gateway-headers.ts'
import type { Credential, EndpointFamily, Route } from '../route.ts'
import { createComponents, type Components, type Json } from './openapi-components.ts'

const security: Readonly<Record<Credential, readonly Json[]>> = {
  none: [],
  api_key: [{ apiKey: [] }, { apiKeyHeader: [] }],
  api_key_or_free: [{ apiKey: [] }, { apiKeyHeader: [] }, {}],
  admin_key: [{ adminKey: [] }],
  gateway: [{ apiKey: [] }, { adminKey: [] }],
  operator: [],
}

const securitySchemes = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'A project API key (`ak_…`) or a token of the configured issuer.',
  },
  apiKeyHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'A project API key. `Authorization` takes precedence.',
  },
  adminKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An administrator key (`adm_…`). For servers only: never put it into a page.',
  },
}

const statusDescriptions: Readonly<Record<number, string>> = {
  400: 'The request is malformed.',
  401: 'The credential is missing, invalid, expired or revoked.',
  402: 'Not enough credits.',
  403: 'The credential lacks the permission.',
  404: 'Not found.',
  405: 'The method is not allowed.',
  408: 'The request was not sent in time.',
  409: 'Conflict with the current state.',
  413: 'The body is too large.',
  415: 'The body is of the wrong type.',
  422: 'A field is invalid.',
  429: 'A limit is exceeded; wait for `Retry-After`.',
  500: 'Unexpected failure.',
  502: 'The upstream failed.',
  503: 'A required component is unavailable, or the service is shutting down.',
  504: 'The upstream took too long.',
  529: 'The upstream is overloaded.',
}

const Description = Type.Object(
  { openapi: Type.Literal('3.1.0') },
  { title: 'OpenApiDescription', additionalProperties: true, examples: [{ openapi: '3.1.0', info: {}, paths: {} }] },
)

export function openapiRoutes(families: () => readonly EndpointFamily[], version: string): Route[] {
  let description: object | undefined
  return [
    {
      name: 'getOpenapi',
      method: 'GET',
      path: '/openapi.json',
      summary: 'The API as OpenAPI 3.1',
      credential: 'none',
      answers: { 200: { description: 'The description.', schema: Description } },
      // May be cached, because it contains no customer data.
      handle: async (_request, reply) =>
        reply.header('cache-control', 'no-cache').send((description ??= describeApi(families(), version))),
    },
  ]
}

/** OpenAPI 3.1 from the schemas that validate requests, so that it always matches the server. */
export function describeApi(families: readonly EndpointFamily[], version: string): Json {
  const components = createComponents()
  const paths: Record<string, Json> = {}
  for (const family of families) {
    for (const route of family.routes) {
      paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route, family, components) }
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gatehouse',
      version,
      description: 'Policy administration and model gateway.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: families.filter(({ routes }) => routes.length > 0).map(({ name }) => ({ name })),
    paths,
    components: { securitySchemes, headers: allHeaders, schemas: components.schemas },
  }
}

function operation(route: Route, family: EndpointFamily, components: Components): Json {
  const json = (schema: TSchema): Json => ({ 'application/json': { schema: components.describe(schema) } })
  const errorResponses = (route.errorStatuses ?? []).map((status) => [
    status,
    {
      description: statusDescriptions[status] ?? 'Error.',
      headers: headersOf(route, status),
      content: json(family.errorSchema),
    },
  ])
  const answers = Object.entries(route.answers).map(([status, answer]) => [
    status,
    { ...response(answer, components), headers: headersOf(route, Number(status)) },
  ])
  return {
    operationId: route.name,
    tags: [family.name],
    summary: route.summary,
    ...describedBy(route),
    security: security[route.credential],
    parameters: (['path', 'query', 'header'] as const).flatMap((location) => parameters(location, route, components)),
    ...(route.body === undefined ? {} : { requestBody: { required: true, content: json(route.body) } }),
    responses: { ...Object.fromEntries(answers), ...Object.fromEntries(errorResponses) },
  }
}

/** OpenAPI has no field for the permission of a credential that is not OAuth's, so the description names it. */
function describedBy({ description, permission }: Route): { description?: string } {
  const needs = permission === undefined ? [] : [`Needs the permission \`${permission}\`.`]
  const sentences = [...(description === undefined ? [] : [description]), ...needs]
  return sentences.length === 0 ? {} : { description: sentences.join(' ') }
}

function response({ description, schema, contentType }: Route['answers'][number], components: Components): Json {
  if (schema === undefined && contentType === undefined) return { description }
  const content = schema === undefined ? {} : { schema: components.describe(schema) }
  return { description, content: { [contentType ?? 'application/json']: content } }
}

const parameterSchemas = { path: 'params', query: 'query', header: 'headers' } as const

function parameters(location: 'path' | 'query' | 'header', route: Route, components: Components): Json[] {
  const schema = route[parameterSchemas[location]]
  if (schema === undefined || !('properties' in schema)) return []
  const { properties, required = [] } = schema as TSchema & { properties: Record<string, Json>; required?: string[] }
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: location,
    required: location === 'path' || (required.includes(name) && property['default'] === undefined),
    ...(property['description'] === undefined ? {} : { description: property['description'] }),
    schema: components.describe(property),
  }))
}

const header = (type: 'string' | 'integer', description: string, example: string | number): Json => ({
  description,
  schema: { type, examples: [example] },
})

/** Standard response headers, and those that clients of other gateways know. */
const headers = {
  'X-Request-Id': header('string', 'Names the request in the log.', 'req_01k9z8y7x6w5v4t3s2r1q0p9n8'),
  'WWW-Authenticate': header('string', 'The authentication scheme that is required.', 'Bearer realm="gatehouse"'),
  'Retry-After': header('integer', 'Seconds to wait before the next attempt.', 12),
  'X-RateLimit-Limit': header('integer', 'The limit that was exceeded.', 120),
  'X-RateLimit-Remaining': header('integer', 'What remains of that limit.', 0),
  'X-RateLimit-Reset': header('integer', 'When capacity is available again, in Unix seconds.', 1_767_225_600),
  'X-RateLimit-Scope': header('string', 'The scope of that limit: `credential` or `organization`.', 'credential'),
  'X-RateLimit-Metric': header('string', 'What that limit counts: `requests` or `concurrent_requests`.', 'requests'),
  'Idempotent-Replayed': header(
    'string',
    '`true` if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    'true',
  ),
} as const satisfies Json

/** `components.headers`. */
const allHeaders: Json = { ...headers, ...describeGatewayHeaders() }

type HeaderName = keyof typeof headers

const administrationLimit: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-RateLimit-Scope',
  'X-RateLimit-Metric',
]

/** References to the headers that a route's response with this status carries. */
function headersOf({ credential, headers: requestHeaders, answers }: Route, status: number): Json {
  const isAdministration = credential === 'admin_key' || credential === 'gateway'
  const standard: readonly HeaderName[] = [
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
