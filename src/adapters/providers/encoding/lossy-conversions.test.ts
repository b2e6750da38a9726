import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { requestBy } from '../../../../test/support/requests.ts'
import type { CallerFormat } from '../../../domain/inference/formats.ts'
import { vendorFieldRoles } from '../../../wire/field-roles.ts'
import { reportLossyConversions } from './lossy-conversions.ts'

/** The fields of a body that are reported as dropped. */
function droppedOf(dialect: CallerFormat, body: Readonly<Record<string, unknown>>, converted: readonly string[] = []) {
  const dropped: string[] = []
  const raw = { dialect, body: { model: 'm', ...body }, headers: {}, roles: vendorFieldRoles }
  reportLossyConversions(requestBy(dialect, { raw }), new Set(converted), (field) => dropped.push(field))
  return dropped
}

describe('fields that another kind of upstream cannot receive', () => {
  it('are named, also if the gateway does not know them', () => {
    const sampling = { min_p: 0.1, repetition_penalty: 1.1, chat_template_kwargs: { enable_thinking: false } }
    assert.deepEqual(droppedOf('chat', { ...sampling, temperature: 1, store: true }), [
      ...Object.keys(sampling),
      'store',
    ])
    assert.deepEqual(droppedOf('responses', { input: 'Hi', my_field: 1 }), ['my_field'])
    assert.deepEqual(droppedOf('messages', { messages: [], max_tokens: 5, my_field: 'x' }), ['my_field'])
  })

  it('are not named if they ask for nothing, or if the gateway reads or converts them', () => {
    assert.deepEqual(droppedOf('chat', { my_field: null, other: false, n: 1, stop: ['x'], stream_options: {} }), [])
    assert.deepEqual(droppedOf('chat', { verbosity: 'low', min_p: 0 }, ['verbosity', 'min_p']), [])
    assert.deepEqual(droppedOf('responses', { include: ['reasoning.encrypted_content'], store: true }), [])
  })

  it('include data that a response cannot contain', () => {
    assert.deepEqual(droppedOf('responses', { include: ['file_search_call.results'] }), ['include'])
  })

  it('include the citations of documents, also inside a tool result', () => {
    const document = { type: 'document', source: { type: 'text', data: 'x' }, citations: { enabled: true } }
    const messages = (content: unknown) => [{ role: 'user', content }]
    assert.deepEqual(droppedOf('messages', { messages: messages([document]) }), ['citations'])
    const result = { type: 'tool_result', tool_use_id: 'a', content: [document] }
    assert.deepEqual(droppedOf('messages', { messages: messages([result]) }), ['citations'])
    assert.deepEqual(
      droppedOf('messages', { messages: messages([{ ...document, citations: { enabled: false } }]) }),
      [],
    )
  })

  it('are rejected if they decide what the answer is', () => {
    const rejected = { code: 'unsupported_parameter', details: { param: 'guided_json' } }
    assert.throws(() => droppedOf('chat', { guided_json: { type: 'object' } }), rejected)
  })

  it('are named up to a number, however many a body has', () => {
    const body = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`field_${at}`, at + 1]))
    assert.equal(droppedOf('chat', body).length, 20)
  })
})
