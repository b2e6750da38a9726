import test from 'node:test'
import { startAdminApp } from '../../support/administration.ts'
import { createOneOfEach } from '../../support/administration-routes.ts'
import { assertAnswered } from '../../support/fuzz.ts'
import { operationsOf } from '../../support/openapi.ts'

const prefix = '/v1/organization'

test('any request to the administration API gets a response that its OpenAPI description allows', async (context) => {
  await using app = await startAdminApp({ config: { server: { auth_failures_per_minute: 100_000 } } })
  const ids = Object.values(await createOneOfEach(app.admin))

  for (const operation of operationsOf(app.app.openapi(), prefix)) {
    await context.test(`${operation.method} ${operation.path}`, async () => {
      // Each operation uses its own key, because operations that revoke keys would stop the run.
      const admin = await app.adminWith(['*'])
      await assertAnswered(operation, ids, (method, { path, ...what }) =>
        admin.send(method, path.slice(prefix.length), what),
      )
    })
  }
})
