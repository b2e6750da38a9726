import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Agent } from 'undici'
import { createMemoryUpstream } from '../../../../test/support/memory-upstream.ts'
import { askAndFail, jsonHeaders, testProvider } from '../../../../test/support/provider-kit.ts'
import { requestBy } from '../../../../test/support/requests.ts'
import { answerJson, startUpstream } from '../../../../test/support/upstream.ts'

type ErrorDetails = {
  readonly code: number
  readonly message: string
  readonly status: string
  readonly details?: object[]
}

describe('an error of Gemini', () => {
  const failWith = (error: ErrorDetails, inList = false) =>
    askAndFail({
      kind: 'gemini',
      answer: { status: error.code, headers: jsonHeaders, chunks: [JSON.stringify(inList ? [{ error }] : { error })] },
    })

  it('about the request is passed on, also from a list', async () => {
    const error = { code: 400, message: 'Invalid value at contents[0].', status: 'INVALID_ARGUMENT' }
    for (const inList of [false, true]) {
      const { kind, code, message } = await failWith(error, inList)
      assert.deepEqual([kind, code, message], ['validation', 'upstream_rejected', error.message])
    }
  })

  it('about the gateway’s key or account is not the caller’s, and another target may be tried', async () => {
    const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }
    const invalid = { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT', details: [info] }
    const location = { code: 400, message: 'User location is not supported.', status: 'FAILED_PRECONDITION' }
    const denied = { code: 403, message: 'Permission denied.', status: 'PERMISSION_DENIED' }
    for (const error of [invalid, location, denied]) {
      const { kind, details, message } = await failWith(error)
      assert.deepEqual([kind, details.isPermanent], ['upstream_failed', true])
      assert.ok(!message.includes(error.message))
    }
  })

  it('about an unknown model is marked as such', async () => {
    const message = 'models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.'
    const fault = await failWith({ code: 404, message, status: 'NOT_FOUND' })
    assert.deepEqual([fault.code, fault.details.isUnknownModel], ['upstream_rejected', true])
  })

  it('about a quota says how long to wait', async () => {
    const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.074824224s' }
    const error = { code: 429, message: 'Quota exceeded.', status: 'RESOURCE_EXHAUSTED', details: [{}, retry] }
    const fault = await failWith(error)
    assert.deepEqual([fault.kind, fault.details.retryAfterSeconds], ['upstream_overloaded', 35])
  })

  it('about a long prompt has the wording that agents understand', async () => {
    const message = 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).'
    const fault = await failWith({ code: 400, message, status: 'INVALID_ARGUMENT' })
    assert.deepEqual(
      [fault.code, fault.message],
      ['context_length_exceeded', 'prompt is too long: 1200000 tokens > 1048576 maximum'],
    )
  })

  it('about the service is an upstream error or overload', async () => {
    const overloaded = await failWith({ code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' })
    const internal = await failWith({ code: 500, message: 'An internal error has occurred.', status: 'INTERNAL' })
    const late = await failWith({ code: 504, message: 'Deadline expired.', status: 'DEADLINE_EXCEEDED' })
    assert.deepEqual(
      [overloaded.kind, internal.kind, late.kind],
      ['upstream_overloaded', 'upstream_failed', 'upstream_timeout'],
    )
  })
})

describe('the model list of Gemini', () => {
  it('has the models that generate content, without their collection', async () => {
    await using upstream = await startUpstream(
      answerJson({
        models: [
          {
            name: 'models/gemini-2.5-flash',
            inputTokenLimit: 1_048_576,
            supportedGenerationMethods: ['generateContent', 'countTokens'],
          },
          { name: 'models/text-embedding-004', supportedGenerationMethods: ['embedContent'] },
        ],
      }),
    )
    const dispatcher = new Agent()
    const provider = testProvider({ kind: 'gemini', settings: { baseUrl: upstream.url } }, dispatcher)
    const listed = await provider.listModels?.(new AbortController().signal)
    await dispatcher.close()
    assert.deepEqual(listed, [{ name: 'gemini-2.5-flash', contextTokens: 1_048_576 }])
    assert.equal(upstream.requests[0]?.path, '/v1beta/models?pageSize=1000')
    assert.equal(upstream.requests[0]?.headers['x-goog-api-key'], 'key')
  })
})

describe('the token counter of Gemini', () => {
  it('gets the request that would be sent', async () => {
    const upstream = createMemoryUpstream({ headers: jsonHeaders, chunks: ['{"totalTokens":31}'] })
    const provider = testProvider({ kind: 'gemini' }, upstream.dispatcher)
    const { signal } = new AbortController()
    const count = await provider.countTokens?.({ request: requestBy('messages'), model: 'gemini-2.5-flash', signal })
    assert.equal(count, 31)
    assert.equal(upstream.requests[0]?.url, 'https://upstream.test/v1beta/models/gemini-2.5-flash:countTokens')
    assert.deepEqual(upstream.requests[0].body, {
      generateContentRequest: {
        model: 'models/gemini-2.5-flash',
        contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
      },
    })
  })
})
