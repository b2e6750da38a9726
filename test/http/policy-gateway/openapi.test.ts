import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startAdminApp } from '../../support/administration.ts'
import { misfits, operationsOf } from '../../support/openapi.ts'

describe('the OpenAPI description of the policy gateway', async () => {
  await using app = await startAdminApp()
  const operations = operationsOf(app.app.openapi(), '/api/policy-gateway')

  for (const { method, path, parameters, body, answers } of operations) {
    describe(`${method} ${path}`, () => {
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
      })
    })
  }

  it('offers If-Match, an Idempotency-Key and an owner if it saves a configuration', () => {
    const saving = operations.filter(({ method, path }) => path.endsWith('/config') && method !== 'GET')
    assert.equal(saving.length, 2)
    for (const { parameters } of saving) {
      const headers = parameters.filter((each) => each.in === 'header').map(({ name }) => name)
      assert.deepEqual(headers, ['Idempotency-Key', 'If-Match', 'X-Gatehouse-Managed-By', 'X-Gatehouse-Take-Over'])
    }
  })
})
