import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Answer } from './administration.ts'
import { misfits, type DescribedOperation } from './openapi.ts'
import { valuesOf } from './schema-values.ts'

const requestsPerOperation = 25

type Request = { readonly path: string; readonly headers: Record<string, string>; readonly body: string | undefined }

/** Sends a request and returns the response. */
export type Send = (method: string, request: Request) => Promise<Answer>

/** Valid, nearly valid and arbitrary requests all get a response that the description allows. */
export const assertAnswered = (operation: DescribedOperation, ids: readonly string[], send: Send): Promise<void> =>
  fc.assert(
    fc.asyncProperty(requestsOf(operation, ids), async (request) =>
      assertDescribed(operation, await send(operation.method, request)),
    ),
    { numRuns: requestsPerOperation },
  )

function assertDescribed({ answers }: DescribedOperation, answer: Answer): void {
  const schema = answers[String(answer.status)]
  assert.ok(answer.status < 500, `${answer.status} ${JSON.stringify(answer.body)}`)
  assert.ok(schema, `${answer.status} is not described: ${JSON.stringify(answer.body)}`)
  // A file is given as one text.
  assert.deepEqual(misfits(schema, answer.body['lines'] ?? answer.body), [])
}

function requestsOf(operation: DescribedOperation, ids: readonly string[]): fc.Arbitrary<Request> {
  const of = (place: 'path' | 'query' | 'header') => operation.parameters.filter((each) => each.in === place)
  const id = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...ids) },
    fc.string({ unit: 'binary', minLength: 1, maxLength: 220 }),
  )
  const inPath = fc.record(Object.fromEntries(of('path').map(({ name }) => [name, id])))
  const query = fc.record(
    Object.fromEntries(
      of('query').map(({ name, schema }) => [name, fc.oneof(valuesOf(schema), name === 'after' ? id : fc.string())]),
    ),
    { requiredKeys: of('query').flatMap(({ name, required }) => (required ? [name] : [])) },
  )
  const key = fc.oneof({ weight: 3, arbitrary: fc.constant('') }, fc.constantFrom('k', 'l', '~'.repeat(255)))
  const body = operation.body === undefined ? fc.constant(undefined) : bodiesOf(operation.body)
  return fc.record({ inPath, query, key, body }).map((parts) => ({
    path: pathOf(operation.path, parts.inPath, parts.query),
    headers: parts.key === '' ? {} : { 'idempotency-key': parts.key },
    body: parts.body,
  }))
}

const bodiesOf = (schema: NonNullable<DescribedOperation['body']>): fc.Arbitrary<string> =>
  fc.oneof({ weight: 10, arbitrary: valuesOf(schema).map((value) => JSON.stringify(value)) }, fc.string())

function pathOf(path: string, ids: Record<string, string>, query: Record<string, unknown>): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(wellFormed(ids[name] ?? '')))
  const queryPairs = Object.entries(query).map(([name, value]) => [
    name,
    wellFormed(typeof value === 'string' ? value : JSON.stringify(value)),
  ])
  return `${filled}?${new URLSearchParams(queryPairs).toString()}`
}

/** Without lone surrogates, which a URL cannot contain. */
const wellFormed = (text: string): string => text.toWellFormed()
