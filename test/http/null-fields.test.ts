import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'

/** Optional fields of each dialect. Some SDKs send null for each of them that is not set. */
const endpoints = {
  '/v1/messages': {
    body: { max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] },
    optional:
      'system tools tool_choice thinking output_config context_management temperature top_p top_k stop_sequences stream metadata output_format flagged_categories',
  },
  '/v1/chat/completions': {
    body: { messages: [{ role: 'user', content: 'Hi' }] },
    optional:
      'max_tokens max_completion_tokens temperature top_p top_k stop n stream seed stream_options tools tool_choice parallel_tool_calls response_format reasoning_effort user metadata modalities logprobs functions function_call flagged_categories',
  },
  '/v1/responses': {
    body: { input: 'Hi' },
    optional:
      'max_output_tokens temperature top_p stream tools tool_choice parallel_tool_calls text reasoning include store previous_response_id metadata user truncation instructions background conversation prompt flagged_categories',
  },
} as const

describe('an optional field that is null', () => {
  let app: TestApp
  before(async () => {
    app = await startTestApp()
  })
  after(() => app[Symbol.asyncDispose]())

  for (const [path, { body, optional: names }] of Object.entries(endpoints)) {
    const optional = names.split(' ')
    it(`is the same as an absent one at ${path}`, async () => {
      for (const field of optional) {
        const answer = await app.post(path, { model: 'gatehouse-echo', ...body, [field]: null })
        assert.equal(answer.status, 200, `${field}: ${await answer.text()}`)
      }
      const all = Object.fromEntries(optional.map((field) => [field, null]))
      assert.equal((await app.post(path, { model: 'gatehouse-echo', ...body, ...all })).status, 200)
    })
  }
})
