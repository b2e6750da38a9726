import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startAdminApp } from '../support/administration.ts'

type Schema = Record<string, unknown>
type Content = Record<string, { schema?: Schema }>
type Operation = {
  operationId: string
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
}
type OpenApi = { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Schema> } }

await using app = await startAdminApp()
const documents: Record<string, OpenApi> = {
  'the network': app.app.openapi() as OpenApi,
  'the control socket': await app.app.client.get<OpenApi>('/openapi.json'),
}

for (const [name, { paths, components }] of Object.entries(documents)) {
  describe(`the OpenAPI description of ${name}`, () => {
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods))

    it('names every operation in camel case, and no two alike', () => {
      const names = operations.map(({ operationId }) => operationId)
      assert.deepEqual(
        names.filter((each) => !/^[a-z]+([A-Z][a-z]*)*$/.test(each)),
        [],
      )
      assert.deepEqual(names.toSorted(), [...new Set(names)].toSorted())
    })

    it('names every component by a title', () => {
      const names = Object.keys(components.schemas)
      assert.deepEqual(
        names.filter((each) => !/^([A-Z][a-z]*)+$/.test(each)),
        [],
      )
    })

    it('refers to a component in every JSON body', () => {
      const unnamed = operations.flatMap(({ operationId, requestBody, responses }) =>
        Object.entries({ request: requestBody, ...responses })
          .filter(([, body]) => isUnnamed(body?.content?.['application/json']?.schema))
          .map(([part]) => `${operationId} ${part}`),
      )
      assert.deepEqual(unnamed, [])
    })

    it('refers to a component for every item of a list', () => {
      const unnamed = Object.entries(components.schemas).filter(([title, schema]) => {
        const { data } = (schema['properties'] ?? {}) as { data?: { items?: Schema } }
        return title.endsWith('List') && isUnnamed(data?.items)
      })
      assert.deepEqual(
        unnamed.map(([title]) => title),
        [],
      )
    })
  })
}

const isUnnamed = (schema: Schema | undefined): boolean => schema !== undefined && typeof schema['$ref'] !== 'string'
