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
        names.filter((each) => !/^([A-Z][a-z0-9]*)+$/.test(each)),
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

    it('describes every field', () => {
      const all = Object.entries(components.schemas)
      assert.deepEqual(
        all.flatMap(([title, schema]) => undescribed(schema, title, components.schemas)),
        [],
      )
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

/** The fields without a description in a schema and in the schemas inside it. A component with a description describes its fields' users. */
function undescribed(schema: Schema, path: string, components: Record<string, Schema>): string[] {
  const { properties = {}, items, anyOf = [], additionalProperties } = schema as SchemaParts
  const isDescribed = (field: Schema): boolean =>
    field['description'] !== undefined || components[nameOf(field) ?? '']?.['description'] !== undefined
  return [
    ...Object.entries(properties).flatMap(([name, field]) => [
      ...(isDescribed(field) ? [] : [`${path}.${name}`]),
      ...undescribed(field, `${path}.${name}`, components),
    ]),
    ...(items === undefined ? [] : undescribed(items, `${path}[]`, components)),
    ...anyOf.flatMap((each) => undescribed(each, path, components)),
    ...(typeof additionalProperties === 'object' ? undescribed(additionalProperties, `${path}.*`, components) : []),
  ]
}

type SchemaParts = {
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  additionalProperties?: Schema | boolean
}

const nameOf = ({ $ref: reference }: Schema): string | undefined =>
  typeof reference === 'string' ? reference.split('/').at(-1) : undefined

const isUnnamed = (schema: Schema | undefined): boolean => schema !== undefined && typeof schema['$ref'] !== 'string'
