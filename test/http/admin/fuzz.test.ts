import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { startAdminHouse, type Admin } from '../../support/administration.ts'
import { furnish } from '../../support/administration-routes.ts'
import { misfits, operationsOf, type DescribedOperation } from '../../support/openapi.ts'
import { valuesOf } from '../../support/schema-values.ts'

const requestsPerOperation = 25

type Request = { readonly path: string; readonly headers: Record<string, string>; readonly body: string | undefined }

test('whatever is sent to the administration interface is answered as described', async (context) => {
  await using house = await startAdminHouse({ config: { server: { auth_failures_per_minute: 100_000 } } })
  const ids = Object.values(await furnish(house.admin))

  for (const operation of operationsOf(house.house.openapi, '/v1/organization')) {
    await context.test(`${operation.method} ${operation.path}`, async () => {
      // A key of its own: the operations that revoke keys would else stop the run.
      const admin = await house.adminWith(['*'])
      await fc.assert(
        fc.asyncProperty(requestsOf(operation, ids), (request) => assertDescribed(operation, request, admin)),
        { numRuns: requestsPerOperation },
      )
    })
  }
})

async function assertDescribed({ method, answers }: DescribedOperation, request: Request, admin: Admin): Promise<void> {
  const { path, body, headers } = request
  const answer = await admin.ask(method, path, { body, headers })
  const schema = answers[String(answer.status)]
  assert.ok(answer.status < 500, `${answer.status} ${JSON.stringify(answer.body)}`)
  assert.ok(schema, `${answer.status} is not described: ${JSON.stringify(answer.body)}`)
  assert.deepEqual(misfits(schema, answer.body), [])
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
  const filled = path
    .replace('/v1/organization', '')
    .replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(wellFormed(ids[name] ?? '')))
  const said = Object.entries(query).map(([name, value]) => [
    name,
    wellFormed(typeof value === 'string' ? value : JSON.stringify(value)),
  ])
  return `${filled}?${new URLSearchParams(said).toString()}`
}

/** Half of a surrogate pair cannot be written into a URL. */
const wellFormed = (text: string): string => text.toWellFormed()
