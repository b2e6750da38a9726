import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Type from 'typebox'
import { fieldList, fieldsIn } from '../../scripts/docs/schema-fields.ts'

const textOf = (html: string): string =>
  html
    .replaceAll(/<\/(?:div|p|li|summary)>/g, '\n')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/ +/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .trim()

const shown = (fields: Type.TProperties, place: 'request' | 'answer' = 'request'): string[] =>
  textOf(fieldList(Type.Object(fields), { id: 'op.body', in: place }))
    .split('\n')
    .filter((line) => line !== '')

describe('the fields of a schema', () => {
  it('have a type, bounds, a default and a description', () => {
    const limit = Type.Integer({ minimum: 1, maximum: 1000, default: 20, description: 'Objects on a `page`.' })
    assert.deepEqual(shown({ limit }), ['limit integer', '1 to 1,000 · default 20', 'Objects on a page .'])
  })

  it('are marked as required in a request, and as optional in an answer', () => {
    const fields = { id: Type.String(), note: Type.Optional(Type.String()), size: Type.Integer({ default: 1 }) }
    assert.deepEqual(shown(fields), ['id string required', 'note string', 'size integer', 'default 1'])
    assert.deepEqual(shown(fields, 'answer'), ['id string', 'note string optional', 'size integer', 'default 1'])
  })

  it('are nested in the field that holds them', () => {
    const item = Type.Object({ text: Type.String({ description: 'What it says.' }) })
    const fields = { items: Type.Array(Type.Union([item, Type.Null()]), { maxItems: 9 }) }
    assert.deepEqual(shown(fields), [
      'items array of objects or null required',
      'up to 9 items',
      'Fields of items',
      'text string required',
      'What it says.',
    ])
  })

  it('name each alternative by the value that selects it', () => {
    const webhook = Type.Object({ type: Type.Literal('webhook'), url: Type.String() })
    const s3 = Type.Object({ type: Type.Literal('s3'), bucket: Type.String() })
    const html = fieldList(Type.Object({ sink: Type.Union([webhook, s3]) }), { id: 'op.body', in: 'request' })
    assert.deepEqual(
      [...html.matchAll(/<details class="variant"><summary>(.*?)<\/summary>/g)].map(([, title = '']) => textOf(title)),
      ['type: &quot;webhook&quot;', 'type: &quot;s3&quot;'],
    )
    assert.match(html, /id="op\.body\.sink\.2\.bucket"/)
  })

  it('are shown once if all alternatives have them', () => {
    const label = Type.Optional(Type.String({ description: 'Purpose.' }))
    const webhook = Type.Object({ type: Type.Literal('webhook'), label, url: Type.String() })
    const s3 = Type.Object({ type: Type.Literal('s3'), label, bucket: Type.String() })
    const schema = Type.Union([webhook, s3])
    const html = fieldList(schema, { id: 'op.body', in: 'request' })
    assert.deepEqual(
      [...html.matchAll(/<li id="(.*?)"/g)].map(([, id]) => id),
      ['op.body.label', 'op.body.1.type', 'op.body.1.url', 'op.body.2.type', 'op.body.2.bucket'],
    )
    assert.deepEqual(
      fieldsIn(schema).map(({ id }) => id),
      ['label', '1.type', '1.url', '2.type', '2.bucket'],
    )
  })

  it('stay in an alternative that would have none left', () => {
    const label = Type.Optional(Type.String())
    const schema = Type.Union([Type.Object({ label }), Type.Object({ label, url: Type.String() })])
    assert.deepEqual(
      fieldsIn(schema).map(({ id }) => id),
      ['1.label', '2.label', '2.url'],
    )
  })

  it('list the allowed values', () => {
    const mode = Type.Union([Type.Enum(['monitoring', 'enforcing']), Type.Null()])
    assert.deepEqual(shown({ mode }), ['mode string or null required', 'monitoring enforcing'])
  })

  it('show what a map holds', () => {
    assert.deepEqual(shown({ tags: Type.Record(Type.String(), Type.Integer()) }), ['tags map of integers required'])
  })

  it('are found by their path in the search', () => {
    const schema = Type.Object({ rules: Type.Object({ redact: Type.Boolean({ description: 'Hides data.' }) }) })
    assert.deepEqual(fieldsIn(schema), [
      { path: 'rules', id: 'rules', description: '' },
      { path: 'rules.redact', id: 'rules.redact', description: 'Hides data.' },
    ])
  })
})
