import Type, { type TSchema } from 'typebox'
import { describedFamilies, type Credential, type EndpointFamily, type Route } from '../route.ts'
import { createComponents, type Components, type Json } from './openapi-components.ts'
import { allHeaders, headersOf } from './openapi-headers.ts'

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

/** The version of the API, which changes only with its contract. */
const apiVersion = '0.1.0'

export type ApiInfo = {
  /** The version of the product. */
  readonly version: string
  /** The address that callers use; undefined if it is the one that serves the description. */
  readonly url: string | undefined
}

export function openapiRoutes(families: () => readonly EndpointFamily[], info: ApiInfo): Route[] {
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
        reply.header('cache-control', 'no-cache').send((description ??= describeApi(families(), info))),
    },
  ]
}

/** OpenAPI 3.1 from the schemas that validate requests, so that it always matches the server. */
export function describeApi(all: readonly EndpointFamily[], { version, url = '/' }: ApiInfo): Json {
  const families = describedFamilies(all)
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
      version: apiVersion,
      'x-gatehouse-version': version,
      description: 'Policy administration and model gateway.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url, description: 'This gateway.' }],
    tags: families.map(({ name, description }) => ({ name, description })),
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
      headers: headersOf(route, family, status),
      content: json(route.errorSchemas?.[status] ?? family.errorSchema),
    },
  ])
  const answers = Object.entries(route.answers).map(([status, answer]) => [
    status,
    { ...response(answer, components), headers: headersOf(route, family, Number(status)) },
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

function response(answer: Route['answers'][number], components: Components): Json {
  const { description, schema, contentType = 'application/json', event, example } = answer
  if (schema === undefined && answer.contentType === undefined) return { description }
  const content = {
    ...(schema === undefined ? {} : { schema: components.describe(schema) }),
    ...(example === undefined ? {} : { example }),
  }
  const stream = event === undefined ? {} : { 'text/event-stream': { schema: components.describe(event) } }
  return { description, content: { [contentType]: content, ...stream } }
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
