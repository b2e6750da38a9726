import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { faultOfErrorBody, faultOfNetwork, faultOfStatus, retryAfterOf } from './failures.ts'

const messageFor = (message: string, more = {}): string =>
  faultOfStatus({ status: 400, body: JSON.stringify({ error: { message, ...more } }) }).message

describe('a rejected request', () => {
  it('is marked if the upstream gave no reason, and the cause for the log has the status', () => {
    const { details, message } = faultOfStatus({ status: 400, body: '' })
    assert.equal(details.isUnexplained, true)
    assert.match(message, /\(400\) without a reason/)
    assert.match(String(details.cause), /status 400/)
  })

  it('is not marked if the upstream gave one', () => {
    assert.equal(faultOfStatus({ status: 422, body: '{"detail":"no"}' }).details.isUnexplained, undefined)
  })
})

describe('a prompt that is too long', () => {
  const cases: readonly [vendor: string, message: string, expected: string, more?: object][] = [
    [
      'Anthropic',
      'prompt is too long: 210000 tokens > 200000 maximum',
      'prompt is too long: 210000 tokens > 200000 maximum',
    ],
    [
      'Anthropic, output included',
      'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000',
      'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000',
    ],
    [
      'OpenAI',
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens.",
      'prompt is too long: 10000 tokens > 8192 maximum',
    ],
    [
      'vLLM, output included',
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
      'input length and `max_tokens` exceed context limit: 4000 + 1000 > 4096',
    ],
    [
      'vLLM, prompt alone too long',
      "This model's maximum context length is 4096 tokens. However, you requested 6000 tokens (5000 in the messages, 1000 in the completion).",
      'prompt is too long: 5000 tokens > 4096 maximum',
    ],
    [
      'vLLM, newer',
      "'max_tokens' is too large: 32000. This model's maximum context length is 8192 tokens and your request has 3000 input tokens (32000 > 8192 - 3000).",
      'input length and `max_tokens` exceed context limit: 3000 + 32000 > 8192',
    ],
    [
      'vLLM, since 2026',
      "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens.",
      'prompt is too long: 262145 tokens > 262144 maximum',
    ],
    [
      'vLLM, with a limit of its own for the input',
      "You passed 31745 input tokens and requested 1024 output tokens. However, the model's context length is only 32768 tokens, resulting in a maximum input length of 31744 tokens.",
      'input length and `max_tokens` exceed context limit: 31745 + 1024 > 32768',
    ],
    [
      'SGLang',
      "The input (263000 tokens) is longer than the model's context length (262144 tokens).",
      'prompt is too long: 263000 tokens > 262144 maximum',
    ],
    [
      'SGLang, output included',
      "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9000 tokens: 5000 tokens from the input messages and 4000 tokens for the completion.",
      'input length and `max_tokens` exceed context limit: 5000 + 4000 > 8192',
    ],
    [
      'Ollama',
      'prompt too long; exceeded max context length by 918 tokens',
      'prompt is too long: prompt too long; exceeded max context length by 918 tokens',
    ],
    [
      'Mistral',
      'Prompt contains 9000 tokens, too large for model with 8192 maximum context length',
      'prompt is too long: 9000 tokens > 8192 maximum',
    ],
    [
      'Gemini',
      'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
      'prompt is too long: 1196265 tokens > 1048575 maximum',
    ],
    [
      'xAI',
      "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
      'prompt is too long: 537812 tokens > 131072 maximum',
    ],
    [
      'servers behind OpenRouter',
      'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.',
      'prompt is too long: 131393 tokens > 131040 maximum',
    ],
    [
      'LM Studio',
      'Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
      'prompt is too long: 9000 tokens > 4096 maximum',
    ],
    [
      'LM Studio, without numbers',
      'The number of tokens to keep from the initial prompt is greater than the context length.',
      'prompt is too long: The number of tokens to keep from the initial prompt is greater than the context length.',
    ],
    ['Bedrock', 'Input is too long for requested model.', 'prompt is too long: Input is too long for requested model.'],
    [
      'llama.cpp',
      'the request exceeds the available context size, try increasing it',
      'prompt is too long: 5000 tokens > 4096 maximum',
      { type: 'exceed_context_size_error', n_prompt_tokens: 5000, n_ctx: 4096 },
    ],
    [
      'Responses, which names no numbers',
      'Your input exceeds the context window of this model.',
      'prompt is too long: Your input exceeds the context window of this model.',
      { code: 'context_length_exceeded' },
    ],
  ]
  for (const [vendor, message, expected, more] of cases) {
    it(`uses the wording that agents parse: ${vendor}`, () => assert.equal(messageFor(message, more), expected))
  }

  it('has its own error code', () => {
    const codeOf = (message: string) => faultOfErrorBody({ error: { type: 'invalid_request_error', message } }).code
    assert.equal(codeOf('prompt is too long: 210000 tokens > 200000 maximum'), 'context_length_exceeded')
    assert.equal(codeOf('max_tokens must be at least 1'), 'upstream_rejected')
  })

  it('is recognised if the server reports it as an internal error, before or during the response', () => {
    const error = { message: 'prompt too long; exceeded max context length by 9 tokens' }
    assert.equal(faultOfStatus({ status: 500, body: JSON.stringify({ error }) }).kind, 'validation')
    assert.equal(faultOfErrorBody({ error }).kind, 'validation')
  })

  it('is not recognised if the message is about something else', () => {
    for (const other of ['max_tokens must be at least 1', 'stop: input is too long a list'])
      assert.equal(messageFor(other), other)
  })
})

describe('an internal error of a server that follows from the request', () => {
  const faultFor = (message: string) =>
    faultOfStatus({ status: 500, body: JSON.stringify({ error: { code: 500, message, type: 'server_error' } }) })

  it('is the caller’s, with the reason', () => {
    const reasons = [
      'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
      'audio input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
      'tools param requires --jinja flag',
      'Failed to load image or audio file',
      'Failed to parse grammar',
      'JSON schema conversion failed: unresolved reference',
      'this model is missing data required for image input',
    ]
    for (const reason of reasons) {
      const { kind, code, message } = faultFor(reason)
      assert.deepEqual([kind, code, message], ['validation', 'upstream_rejected', reason])
    }
  })

  it('is the upstream’s in any other case', () => {
    for (const reason of [
      'CUDA out of memory',
      'Internal Server Error',
      '',
      'failed to load model',
      'slot unavailable',
    ])
      assert.equal(faultFor(reason).kind, 'upstream_failed', reason)
  })
})

describe('a model that an upstream does not have', () => {
  const isUnknown = (error: object, status = 404) =>
    faultOfStatus({ status, body: JSON.stringify({ error }) }).details.isUnknownModel === true

  it('is recognised in the errors of the vendors', () => {
    assert.equal(
      isUnknown({ code: 'model_not_found', message: 'The model `x` does not exist or you do not have access to it.' }),
      true,
    )
    assert.equal(isUnknown({ type: 'not_found_error', message: 'model: claude-x' }), true)
    assert.equal(isUnknown({ message: 'model "x" not found, try pulling it first' }), true)
    assert.equal(isUnknown({ message: 'The model `x` does not exist.', type: 'NotFoundError', code: 404 }), true)
    assert.equal(isUnknown({ message: 'Not Found' }), false)
    assert.equal(isUnknown({ message: 'the model does not exist' }, 400), false)
  })
})

describe('an error inside a response', () => {
  const cases: readonly [body: Record<string, unknown>, kind: string][] = [
    [{ type: 'error', error: { type: 'overloaded_error', message: 'm' } }, 'upstream_overloaded'],
    [{ type: 'error', error: { type: 'rate_limit_error', message: 'm' } }, 'upstream_overloaded'],
    [{ type: 'error', error: { type: 'invalid_request_error', message: 'm' } }, 'validation'],
    [{ type: 'error', error: { type: 'authentication_error', message: 'm' } }, 'upstream_failed'],
    [{ type: 'error', error: { type: 'api_error', message: 'm' } }, 'upstream_failed'],
    [{ type: 'error', error: { type: 'timeout_error', message: 'm' } }, 'upstream_timeout'],
    [{ error: { code: 429, message: 'm' } }, 'upstream_overloaded'],
    [{ error: { code: '500', message: 'm' } }, 'upstream_failed'],
    [{ object: 'error', message: 'm', type: 'BadRequestError', code: 400 }, 'validation'],
    [{ error: 'it broke' }, 'upstream_failed'],
    [{ type: 'error', code: 'server_error', message: 'm', param: null }, 'upstream_failed'],
    [{ type: 'error', code: 'rate_limit_exceeded', message: 'm', param: null }, 'upstream_overloaded'],
  ]
  for (const [body, kind] of cases) {
    it(`is ${kind}: ${JSON.stringify(body)}`, () => assert.equal(faultOfErrorBody(body).kind, kind))
  }
})

describe('the gateway’s own key at an upstream', () => {
  it('is not retried after it was rejected', () => {
    assert.equal(faultOfStatus({ status: 401, body: '{}' }).details.isPermanent, true)
  })
})

describe('Retry-After', () => {
  const nowMs = Date.UTC(2026, 0, 1)

  it('accepts seconds, milliseconds and a date', () => {
    assert.equal(retryAfterOf({ 'retry-after': '7' }, nowMs), 7)
    assert.equal(retryAfterOf({ 'retry-after': '0.2' }, nowMs), 1)
    assert.equal(retryAfterOf({ 'retry-after-ms': '1500', 'retry-after': '9' }, nowMs), 2)
    assert.equal(retryAfterOf({ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, nowMs), 30)
    assert.equal(retryAfterOf({ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, nowMs), 0)
  })

  it('is undefined if it is missing or invalid', () => {
    assert.equal(retryAfterOf({}, nowMs), undefined)
    assert.equal(retryAfterOf({ 'retry-after': 'soon' }, nowMs), undefined)
  })
})

describe('a network failure', () => {
  const failing = (code: string): string => faultOfNetwork(Object.assign(new Error(code), { code })).kind

  it('is an upstream failure, or a timeout', () => {
    for (const code of ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET']) {
      assert.equal(failing(code), 'upstream_failed')
    }
    assert.equal(failing('UND_ERR_CONNECT_TIMEOUT'), 'upstream_timeout')
  })
})

describe('an account that is out of quota', () => {
  const cases: readonly [vendor: string, status: number, error: object][] = [
    [
      'OpenAI',
      429,
      { message: 'You exceeded your current quota.', type: 'insufficient_quota', code: 'insufficient_quota' },
    ],
    ['OpenAI, inactive', 429, { message: 'm', type: 'billing_not_active', code: 'billing_not_active' }],
    ['Anthropic', 402, { type: 'billing_error', message: 'm' }],
    [
      'Anthropic, balance',
      400,
      { type: 'invalid_request_error', message: 'Your credit balance is too low to access it.' },
    ],
    ['DeepSeek', 402, { message: 'Insufficient Balance', type: 'unknown_error' }],
  ]
  for (const [vendor, status, error] of cases) {
    it(`is reported as such, and not as an overload: ${vendor}`, () => {
      const { kind, code, details, message } = faultOfStatus({
        status,
        body: JSON.stringify({ error }),
        retryAfterSeconds: 5,
      })
      assert.deepEqual([kind, code, details.isPermanent], ['upstream_failed', 'upstream_quota_exhausted', true])
      assert.equal(details.retryAfterSeconds, undefined)
      assert.match(message, /out of quota/)
    })
  }

  it('is recognised inside a stream', () => {
    assert.equal(
      faultOfErrorBody({ error: { code: 'insufficient_quota', message: 'm' } }).code,
      'upstream_quota_exhausted',
    )
  })

  it('is not assumed for a rate limit', () => {
    const body = JSON.stringify({ error: { message: 'Slow down', type: 'requests', code: 'rate_limit_exceeded' } })
    assert.equal(faultOfStatus({ status: 429, body }).code, 'upstream_overloaded')
  })
})
