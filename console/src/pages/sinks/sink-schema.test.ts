import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  changedFields,
  chosenIn,
  filledIn,
  hasInput,
  isSecret,
  sinkKindsIn,
  splitFields,
  type FieldSchema,
} from './sink-schema.ts'

const basic: FieldSchema = {
  properties: { type: { const: 'basic' }, user: { type: 'string' }, password: { type: 'string' } },
}
const token: FieldSchema = { properties: { type: { const: 'token' }, token: { type: 'string' } } }
const config: FieldSchema = {
  properties: {
    cloud_id: { type: 'string' },
    url: { type: 'string' },
    masked: { type: 'string', readOnly: true },
    tags: { type: 'array', items: { type: 'string' } },
    auth: { anyOf: [basic, token] },
  },
  required: ['url'],
}

describe('the kinds of sinks', () => {
  it('are those that OpenAPI distinguishes, with their configuration', () => {
    const description = {
      components: {
        schemas: {
          ExportSinkCreate: { discriminator: { mapping: { webhook: '#/components/schemas/Webhook' } } },
          Webhook: {
            description: 'Sends events.',
            properties: { config: { $ref: '#/components/schemas/WebhookConfig' } },
          },
          WebhookConfig: config,
        },
      },
    }
    assert.deepEqual(sinkKindsIn(description), [{ type: 'webhook', description: 'Sends events.', config }])
  })
  it('are none in a description without sinks', () => assert.deepEqual(sinkKindsIn({}), []))
})

describe('the fields of a sink', () => {
  const names = (fields: readonly (readonly [string, FieldSchema])[]): string[] => fields.map(([name]) => name)
  it('are shown at once up to the last required one, without those that nobody fills in', () => {
    const { shown, further } = splitFields(config)
    assert.deepEqual(
      [names(shown), names(further)],
      [
        ['cloud_id', 'url'],
        ['tags', 'auth'],
      ],
    )
  })
  it('are all on demand if none is required', () => assert.deepEqual(names(splitFields(token).further), ['token']))
  it('follow the alternative that is chosen by its type, and the first one otherwise', () => {
    const schema = { anyOf: [basic, token] }
    assert.equal(chosenIn(schema, { type: 'token' }), token)
    assert.equal(chosenIn(schema, undefined), basic)
  })
  it('that choose among events are hidden for a sink of costs, and not sent', () => {
    const schema: FieldSchema = {
      properties: {
        sends: { enum: ['events', 'costs'] },
        bucket: {},
        filter: { properties: { decisions: {} } },
        content: {},
      },
      required: ['bucket'],
    }
    const values = { sends: 'costs', bucket: 'b', filter: { decisions: ['refuse'] }, content: 'full' }
    assert.deepEqual(names(splitFields(schema, values).further), [])
    assert.deepEqual(filledIn(schema, values), { sends: 'costs', bucket: 'b' })
    assert.deepEqual(names(splitFields(schema, { ...values, sends: 'events' }).further), ['filter', 'content'])
    assert.deepEqual(filledIn(schema, { ...values, sends: 'events' }), { ...values, sends: 'events' })
  })
  it('that the form has no input for are known, so that their errors are shown elsewhere', () => {
    assert.equal(hasInput(config, ['url'], {}), true)
    assert.equal(hasInput(config, ['auth', 'password'], {}), true)
    assert.equal(hasInput(config, ['auth', 'password'], { auth: { type: 'token' } }), false)
    assert.equal(hasInput(config, ['auth'], {}), false)
    assert.equal(hasInput(config, ['missing'], {}), false)
  })
})

describe('what was filled in', () => {
  it('leaves out empty texts, empty lists and read-only fields', () =>
    assert.deepEqual(filledIn(config, { url: 'https://a', cloud_id: '', tags: [], masked: 'x', auth: token }), {
      url: 'https://a',
      auth: { type: 'basic' },
    }))
  it('keeps false and zero', () =>
    assert.deepEqual(filledIn({ properties: { a: {}, b: {} } }, { a: false, b: 0 }), { a: false, b: 0 }))
  it('has the type of the chosen alternative', () =>
    assert.deepEqual(filledIn({ anyOf: [basic, token] }, { type: 'token', token: 't', user: 'left over' }), {
      type: 'token',
      token: 't',
    }))
  it('is nothing if every field is empty', () =>
    assert.equal(filledIn({ properties: { a: {} } }, { a: '' }), undefined))
})

it('an update has the fields that differ, and null for those that were removed', () =>
  assert.deepEqual(changedFields({ a: 1, b: [1], c: 'x' }, { a: 1, b: [2], d: true }), { b: [2], c: null, d: true }))

it('a secret is known by its description', () => {
  assert.equal(isSecret({ description: 'The token. Masked in answers.' }), true)
  assert.equal(isSecret({ description: 'The address.' }), false)
})
