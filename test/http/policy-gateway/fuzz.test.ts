import test from 'node:test'
import { Unreachable } from '../../../src/adapters/network/request.ts'
import { textOf } from '../../support/administration.ts'
import { startExportScene } from '../../support/export-scene.ts'
import { assertAnswered } from '../../support/fuzz.ts'
import { webhookConfig } from '../../support/gateway-suite.ts'
import { operationsOf } from '../../support/openapi.ts'

const prefix = '/api/policy-gateway'

test('any request to the policy gateway gets a response that its OpenAPI description allows', async (context) => {
  // Some generated sinks are valid, so none may reach the network.
  await using scene = await startExportScene({ network: () => () => Promise.reject(new Unreachable('a test')) })
  const sink = textOf(await scene.createSink(webhookConfig))
  for (const operation of operationsOf(scene.app.openapi(), prefix)) {
    await context.test(`${operation.method} ${operation.path}`, () =>
      assertAnswered(operation, [sink], (method, { path, ...what }) =>
        scene.gateway(method, path.slice(prefix.length), what),
      ),
    )
  }
})
