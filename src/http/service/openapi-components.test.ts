import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Type from 'typebox'
import { createComponents } from './openapi-components.ts'

const Owner = Type.Object({ id: Type.String() }, { title: 'Owner' })
const owner = { $ref: '#/components/schemas/Owner' }

describe('the components of the OpenAPI description', () => {
  it('contain a schema with a title wherever it is used', () => {
    const { schemas, describe: inDocument } = createComponents()
    const used = Type.Object({
      one: Type.Optional(Owner),
      many: Type.Array(Owner),
      either: Type.Union([Owner, Type.Null()]),
      byName: Type.Record(Type.String(), Owner),
    })
    const described = inDocument(used) as { properties: unknown }
    assert.deepEqual(described.properties, {
      one: owner,
      many: { type: 'array', items: owner },
      either: { anyOf: [owner, { type: 'null' }] },
      byName: { type: 'object', additionalProperties: owner },
    })
    assert.deepEqual(schemas, {
      Owner: { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
    })
  })

  it('do not change values that look like a schema', () => {
    const { describe: inDocument } = createComponents()
    const schema = Type.Object({ title: Type.String() }, { examples: [{ title: 'A book' }] })
    assert.deepEqual(inDocument(schema), {
      type: 'object',
      required: ['title'],
      properties: { title: { type: 'string' } },
      examples: [{ title: 'A book' }],
    })
  })

  it('must not contain two different schemas with one title', () => {
    const { describe: inDocument } = createComponents()
    inDocument(Owner)
    inDocument(Type.Optional(Owner))
    assert.throws(() => inDocument(Type.Object({ name: Type.String() }, { title: 'Owner' })), /title Owner/)
  })

  it('name a default in words, because generators for TypeScript require a field with a default', () => {
    const { describe: inDocument } = createComponents()
    const schema = Type.Object({ stream: Type.Optional(Type.Boolean({ default: false, description: 'Streams.' })) })
    assert.deepEqual(inDocument(schema), {
      type: 'object',
      properties: { stream: { type: 'boolean', description: 'Streams. Default: `false`.' } },
    })
  })

  it('state the type of an enumeration of texts', () => {
    const { describe: inDocument } = createComponents()
    assert.deepEqual(inDocument(Type.Enum(['a', 'b'])), { type: 'string', enum: ['a', 'b'] })
  })
})
