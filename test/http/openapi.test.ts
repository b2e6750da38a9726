import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import packageFile from '../../package.json' with { type: 'json' }
import { startAdminApp } from '../support/administration.ts'

type Schema = Record<string, unknown>
type Content = Record<string, { schema?: Schema }>
type Operation = {
  operationId: string
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
}
type OpenApi = {
  info: Record<string, string>
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

await using app = await startAdminApp()
const documents: Record<string, OpenApi> = {
  'the network': app.app.openapi() as OpenApi,
  'the control socket': await app.app.client.get<OpenApi>('/openapi.json'),
}

for (const [name, { info, paths, components }] of Object.entries(documents)) {
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

    it('names every object that may be null, because generators otherwise invent a name or fail', () => {
      const all = Object.entries(components.schemas)
      assert.deepEqual(
        all.flatMap(([title, schema]) => unnamedNullable(schema, title)),
        [],
      )
    })

    it('has the version of the contract, and the version of the product beside it', () => {
      assert.equal(info.version, '0.1.0')
      assert.equal(info['x-gatehouse-version'], packageFile.version)
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

describe('the OpenAPI description of inference', () => {
  const { schemas } = documents['the network']?.components ?? { schemas: {} }
  const typesIn = (list: unknown): string[] =>
    (list as { items: { anyOf: Schema[] } }).items.anyOf.map((each) => nameOf(each) ?? 'unnamed')
  const propertiesOf = (title: string): Record<string, Schema> =>
    (schemas[title]?.['properties'] ?? {}) as Record<string, Schema>

  it('types the blocks, items and parts of answers', () => {
    assert.deepEqual(typesIn(propertiesOf('Message')['content']), [
      'AnswerTextBlock',
      'ToolUseBlock',
      'ThinkingBlock',
      'RedactedThinkingBlock',
      'OtherAnswerBlock',
    ])
    assert.deepEqual(typesIn(propertiesOf('ResponseObject')['output']), [
      'ResponseOutputMessage',
      'ResponseOutputFunctionCall',
      'ResponseOutputReasoning',
      'OtherOutputItem',
    ])
    assert.deepEqual(typesIn(propertiesOf('ResponseOutputMessage')['content']), [
      'ResponseAnswerText',
      'ResponseRefusal',
      'OtherAnswerPart',
    ])
  })

  it('types the policy of errors and answers, and the configuration of sinks', () => {
    for (const title of ['Message', 'ResponseObject', 'ChatCompletion', 'MessagesErrorBody', 'OpenaiErrorBody'])
      assert.equal(nameOf(propertiesOf(title)['policy'] ?? {}), 'PolicyDecision', title)
    for (const title of ['ExportSink', 'ExportSinkUpdate']) {
      const { anyOf = [] } = propertiesOf(title)['config'] as { anyOf?: Schema[] }
      assert.ok(anyOf.length > 0 && anyOf.every((each) => nameOf(each)?.includes('SinkConfig')), title)
    }
  })
})

/** The inline objects that may be null, in a schema and in the schemas inside it. */
function unnamedNullable(schema: Schema, path: string): string[] {
  const { properties = {}, items, anyOf = [] } = schema as SchemaParts
  const isNullable = anyOf.some(({ type }) => type === 'null')
  return [
    ...(isNullable && anyOf.some(({ properties: fields }) => fields !== undefined) ? [path] : []),
    ...Object.entries(properties).flatMap(([name, field]) => unnamedNullable(field, `${path}.${name}`)),
    ...(items === undefined ? [] : unnamedNullable(items, `${path}[]`)),
    ...anyOf.flatMap((each) => unnamedNullable(each, path)),
  ]
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
