import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { emptyModel, emptyUpstream, modelFields, movedUp, upstreamFields } from './drafts.ts'

describe('the request of a form', () => {
  it('leaves out what is empty, and sends null for it in a change', () => {
    const draft = { ...emptyUpstream, name: 'own', baseUrl: ' http://127.0.0.1:9 ' }
    assert.deepEqual(upstreamFields(draft), { kind: 'openai-chat', base_url: 'http://127.0.0.1:9' })
    assert.deepEqual(upstreamFields(draft, null), {
      kind: 'openai-chat',
      server: null,
      base_url: 'http://127.0.0.1:9',
      api_key: null,
    })
  })
  it('has targets in order, and prices as numbers', () => {
    const draft = { ...emptyModel('own'), input: '0.4', maxOutputTokens: '100' }
    assert.deepEqual(modelFields(draft), {
      targets: [{ upstream: 'own' }],
      max_output_tokens: 100,
      price: { input: 0.4 },
    })
    assert.deepEqual(movedUp(['a', 'b', 'c'], 2), ['a', 'c', 'b'])
    assert.deepEqual(movedUp(['a', 'b'], 0), ['a', 'b'])
  })
})
