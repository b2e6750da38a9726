import test from 'node:test'
import { startAdminApp, type Json } from '../support/administration.ts'
import { assertAnswered } from '../support/fuzz.ts'
import { operationsOf } from '../support/openapi.ts'

test('any request to the model endpoints gets a response that the OpenAPI description allows', async (context) => {
  await using app = await startAdminApp()
  for (const operation of operationsOf(app.app.openapi(), '/v1/models')) {
    await context.test(`${operation.method} ${operation.path}`, () =>
      assertAnswered(operation, ['gatehouse-echo'], async (method, { path, headers }) => {
        const authorization = `Bearer ${app.apiKey}`
        const answer = await fetch(app.url + path, { method, headers: { ...headers, authorization } })
        return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Json }
      }),
    )
  }
})
