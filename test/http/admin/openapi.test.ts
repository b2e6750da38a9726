import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminRoutes } from '../../support/administration-routes.ts'
import { startAdminApp } from '../../support/administration.ts'
import { misfits, operationsOf, type DescribedOperation } from '../../support/openapi.ts'

const enquiries = adminRoutes.filter(({ isEnquiry }) => isEnquiry).map(({ path }) => `/v1/organization${path}`)

const isChange = ({ method, path }: Pick<DescribedOperation, 'method' | 'path'>): boolean =>
  method !== 'GET' && !enquiries.includes(path)

/** The error statuses of every operation. Operations with an id and mutations have more. */
function statusesOf({ method, path }: DescribedOperation): string[] {
  const always = ['400', '401', '403', '422', '429', '500', '503']
  const withId = path.includes('{') ? ['404'] : []
  const withBody = method === 'GET' ? [] : ['413']
  const changing = isChange({ method, path }) ? ['409'] : []
  const more = adminRoutes.find((route) => route.method === method && `/v1/organization${route.path}` === path)
  return [...always, ...withId, ...withBody, ...changing, ...(more?.alsoAnswers ?? []).map(String)].toSorted()
}

describe('the OpenAPI description of the administration API', async () => {
  await using app = await startAdminApp()
  const operations = operationsOf(app.app.openapi(), '/v1/organization')

  for (const operation of operations) {
    const { method, path, parameters, body, answers, headers } = operation
    describe(`${method} ${path}`, () => {
      it('names every status', () => {
        const [success, ...more] = Object.keys(answers).filter((status) => status.startsWith('2'))
        assert.deepEqual(more, [])
        assert.ok(success === '200' || success === '201')
        assert.deepEqual(
          Object.keys(answers)
            .filter((status) => status !== success)
            .toSorted(),
          statusesOf(operation),
        )
      })

      it('has valid examples of the request and of every response', () => {
        for (const schema of [...(body === undefined ? [] : [body]), ...Object.values(answers)]) {
          assert.ok((schema.examples?.length ?? 0) > 0, JSON.stringify(schema).slice(0, 200))
          for (const example of schema.examples ?? []) assert.deepEqual(misfits(schema, example), [])
        }
      })

      it('describes every parameter', () => {
        for (const { name, schema } of parameters) {
          assert.ok('description' in schema && schema.description !== '', name)
        }
        const inPath = parameters.filter((each) => each.in === 'path').map(({ name }) => `{${name}}`)
        assert.deepEqual(inPath, path.match(/\{\w+\}/g) ?? [])
      })

      it('names the response headers that callers rely on', () => {
        assert.ok(Object.values(headers).every((names) => names.includes('X-Request-Id')))
        assert.ok(headers['401']?.includes('WWW-Authenticate'))
        const limit = ['Limit', 'Remaining', 'Reset', 'Scope', 'Metric'].map((word) => `X-RateLimit-${word}`)
        assert.deepEqual(headers['429'], ['X-Request-Id', 'Retry-After', ...limit, 'x-gatehouse-error-code'])
        const replayed = Object.keys(headers).filter((status) => headers[status]?.includes('Idempotent-Replayed'))
        assert.deepEqual(replayed.map(Number).filter((status) => status < 300).length, isChange(operation) ? 1 : 0)
      })

      it('names an ETag if it answers 304', () => {
        if (!('304' in headers)) return
        assert.ok(headers['200']?.includes('ETag') && headers['304']?.includes('ETag'))
        assert.ok(parameters.some(({ name }) => name === 'If-None-Match'))
      })

      it('offers an Idempotency-Key if it is a mutation', () => {
        const offers = parameters.some(({ name }) => name === 'Idempotency-Key')
        assert.equal(offers, isChange(operation))
      })
    })
  }

  it('covers more than twenty operations', () => assert.ok(operations.length > 20))
})
