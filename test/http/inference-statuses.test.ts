import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { startTestApp } from '../support/app.ts'
import { inferenceEndpoints } from '../support/inference-endpoints.ts'
import { operationsOf } from '../support/openapi.ts'

/** The statuses that have a test file, in order. */
const testedStatuses = (endpoint: string): string[] =>
  readdirSync(join(import.meta.dirname, endpoint))
    .map((file) => file.replace('.test.ts', ''))
    .filter((name) => /^\d+$/.test(name))
    .toSorted()

describe('the test files of an inference endpoint', async () => {
  await using app = await startTestApp()
  const operations = operationsOf(app.app.openapi(), '/v1/')

  for (const [name, { path }] of Object.entries(inferenceEndpoints)) {
    it(`test/http/${name} has one for each status of POST ${path}, and one for other methods`, () => {
      const operation = operations.find((each) => each.path === path && each.method === 'POST')
      const documented = Object.keys(operation?.answers ?? {})
      assert.ok(documented.length > 10)
      assert.deepEqual(testedStatuses(name), [...documented, '405'].toSorted())
    })
  }
})
