import { Compile } from 'typebox/schema'
import type { JsonSchema } from '../../src/http/validation-messages.ts'

type Described = JsonSchema & { readonly examples?: readonly unknown[] }

/** One operation of the generated description, with all references resolved. */
export type DescribedOperation = {
  readonly method: string
  readonly path: string
  readonly parameters: readonly {
    name: string
    in: 'path' | 'query' | 'header'
    required: boolean
    schema: Described
  }[]
  readonly body: Described | undefined
  readonly answers: Readonly<Record<string, Described>>
  /** The schema of an event, if the answer may be streamed. */
  readonly event: Described | undefined
  /** Header names of each response. */
  readonly headers: Readonly<Record<string, readonly string[]>>
}

type Content = { content?: Record<string, { schema: Described }>; headers?: object }
type RawOperation = {
  parameters: DescribedOperation['parameters']
  requestBody?: Content
  responses: Record<string, Content>
}

export function operationsOf(openapi: object, prefix: string): DescribedOperation[] {
  const whole = inlined(openapi, openapi) as { paths: Record<string, Record<string, RawOperation>> }
  return Object.entries(whole.paths)
    .filter(([path]) => path.startsWith(prefix))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { parameters, requestBody, responses }]) => ({
        method: method.toUpperCase(),
        path,
        parameters,
        body: schemaOf(requestBody),
        // A response with the status 304 has no body.
        answers: Object.fromEntries(
          Object.entries(responses)
            .filter(([status]) => status !== '304')
            .map(([status, each]) => [
              status,
              schemaOf(each) ?? schemaOf(each, 'application/x-ndjson') ?? schemaOf(each, 'text/html') ?? {},
            ]),
        ),
        event: schemaOf(responses['200'], 'text/event-stream'),
        headers: Object.fromEntries(
          Object.entries(responses).map(([status, each]) => [status, Object.keys(each.headers ?? {})]),
        ),
      })),
    )
}

const schemaOf = (carrier: Content | undefined, type = 'application/json'): Described | undefined =>
  carrier?.content?.[type]?.schema

function inlined(value: unknown, root: object): unknown {
  if (Array.isArray(value)) return value.map((item) => inlined(item, root))
  if (typeof value !== 'object' || value === null) return value
  const { $ref: reference } = value as { $ref?: string }
  if (reference !== undefined) return inlined(lookUp(reference, root), root)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inlined(item, root)]))
}

function lookUp(reference: string, root: object): unknown {
  let value: unknown = root
  for (const step of reference.replace('#/', '').split('/')) value = (value as Record<string, unknown>)[step]
  return value
}

/** Problems of a value that must match its description exactly, without missing or extra fields. */
export function misfits(schema: Described, value: unknown): string[] {
  const [fits, errors] = Compile(closed(schema)).Errors(value)
  return fits ? [] : errors.map(({ instancePath, message }) => `${instancePath} ${message}`)
}

function closed(schema: Described): Described {
  const { examples: _examples, ...rest } = schema
  return {
    ...rest,
    ...(rest.properties && {
      additionalProperties: rest.additionalProperties ?? false,
      properties: Object.fromEntries(Object.entries(rest.properties).map(([name, each]) => [name, closed(each)])),
    }),
    ...(rest.items && { items: closed(rest.items) }),
    ...(rest.anyOf && { anyOf: rest.anyOf.map(closed) }),
  }
}
