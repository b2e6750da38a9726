import type { TSchema } from 'typebox'
import type { Route } from '../../src/http/route.ts'

/** The example of an endpoint, from the `examples` of its schemas. */
export type RouteExample = {
  readonly params: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  /** Undefined if the endpoint takes no body. */
  readonly body: unknown
  readonly status: number
  readonly answer: unknown
}

type Described = {
  readonly examples?: readonly unknown[]
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Described>>
  readonly required?: readonly string[]
}

export function exampleOf(route: Route): RouteExample {
  const status = Math.min(...Object.keys(route.answers).map(Number))
  return {
    params: requiredValues(route.params),
    query: requiredValues(route.query),
    body: firstExample(route.body),
    status,
    answer: route.answers[status]?.example ?? firstExample(route.answers[status]?.schema),
  }
}

/** The path with the example's parameters and query. */
export function examplePath(
  { path }: Pick<Route, 'path'>,
  { params, query }: Pick<RouteExample, 'params' | 'query'>,
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  return search.size === 0 ? filled : `${filled}?${search.toString()}`
}

const examplesOf = ({ examples = [] }: Described): readonly unknown[] => examples

const firstExample = (schema: TSchema | undefined): unknown =>
  schema === undefined ? undefined : examplesOf(schema)[0]

/** The examples of the parameters that a request must have. */
function requiredValues(schema: TSchema | undefined): Record<string, unknown> {
  const { properties = {}, required = [] } = (schema ?? {}) as Described
  const names = required.filter((name) => properties[name]?.default === undefined)
  return Object.fromEntries(names.map((name) => [name, properties[name]?.examples?.[0]]))
}
