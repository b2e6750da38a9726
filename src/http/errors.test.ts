import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fault, type FaultCode, type FaultKind } from '../base/fault.ts'
import { HttpFault } from './fault-headers.ts'
import { encodeOpenaiFault as encodeChatFault } from './inference/openai-errors.ts'
import { encodeDetailFault, encodeMessagesFault } from './messages/errors.ts'
import { encodeResponsesFault } from './responses/errors.ts'

type Row = readonly [
  kind: FaultKind,
  code: FaultCode,
  status: number,
  messagesType: string,
  openaiType: string,
  retry: 'retry' | 'never',
]

const rows: readonly Row[] = [
  ['malformed', 'invalid_json', 400, 'invalid_request_error', 'invalid_request_error', 'never'],
  ['validation', 'invalid_parameter', 400, 'invalid_request_error', 'invalid_request_error', 'never'],
  ['auth', 'invalid_api_key', 401, 'authentication_error', 'authentication_error', 'never'],
  ['auth', 'free_request_used', 401, 'authentication_error', 'authentication_error', 'never'],
  ['billing', 'permission_denied', 402, 'permission_error', 'billing_error', 'never'],
  ['permission', 'model_not_allowed', 403, 'permission_error', 'permission_error', 'never'],
  ['not_found', 'model_not_found', 404, 'not_found_error', 'invalid_request_error', 'never'],
  ['method', 'method_not_allowed', 405, 'invalid_request_error', 'invalid_request_error', 'never'],
  ['timeout', 'request_timeout', 408, 'timeout_error', 'invalid_request_error', 'retry'],
  ['conflict', 'invalid_request', 409, 'conflict_error', 'invalid_request_error', 'never'],
  ['too_large', 'body_too_large', 413, 'request_too_large', 'invalid_request_error', 'never'],
  ['encoding', 'unsupported_encoding', 415, 'invalid_request_error', 'invalid_request_error', 'never'],
  ['moderation', 'invalid_request', 400, 'invalid_request_error', 'invalid_request_error', 'never'],
  ['policy', 'invalid_request', 400, 'invalid_request_error', 'policy_error', 'never'],
  ['upstream_failed', 'upstream_error', 502, 'api_error', 'provider_error', 'retry'],
  ['upstream_timeout', 'upstream_timeout', 504, 'api_error', 'provider_error', 'retry'],
  ['unavailable', 'unavailable', 503, 'api_error', 'internal_error', 'retry'],
  ['internal', 'internal_error', 500, 'api_error', 'internal_error', 'retry'],
]

describe('the error responses of the inference families', () => {
  for (const [kind, code, status, messagesType, openaiType, retry] of rows) {
    it(`${kind}, ${code}`, () => {
      const fault = new Fault(kind, code, 'Why.', { param: 'model' })
      const messages = encodeMessagesFault(fault, 'req_1')
      const chat = encodeChatFault(fault, 'req_1')
      const responses = encodeResponsesFault(fault, 'req_1')
      assert.deepEqual([messages.status, chat.status, responses.status], [status, status, status])
      assert.deepEqual(messages.body, {
        type: 'error',
        error: { type: messagesType, message: 'Why.', details: { error_code: code } },
        request_id: 'req_1',
      })
      assert.deepEqual(chat.body, {
        error: { message: 'Why.', type: openaiType, param: 'model', code },
        request_id: 'req_1',
      })
      assert.deepEqual(responses.body, { error: 'Why.', code, request_id: 'req_1' })
      for (const { headers } of [messages, chat, responses]) {
        assert.equal(headers['x-should-retry'], retry === 'never' ? 'false' : undefined)
      }
      assert.equal(messages.headers['request-id'], 'req_1')
    })
  }

  it('an overloaded upstream is 529 in the Anthropic style and 503 elsewhere', () => {
    const fault = new Fault('upstream_overloaded', 'upstream_overloaded', 'Busy.')
    assert.equal(encodeMessagesFault(fault, 'r').status, 529)
    assert.deepEqual(encodeMessagesFault(fault, 'r').body, {
      type: 'error',
      error: { type: 'overloaded_error', message: 'Busy.', details: { error_code: 'upstream_overloaded' } },
      request_id: 'r',
    })
    assert.equal(encodeChatFault(fault, 'r').status, 503)
    assert.equal(encodeResponsesFault(fault, 'r').status, 503)
    assert.equal(encodeChatFault(fault, 'r').headers['retry-after'], '5')
  })

  it('all limits have the same OpenAI-style body on both endpoints', () => {
    const fault = new Fault('rate_limit', 'too_many_auth_failures', 'Slow down.', {
      retryAfterSeconds: 2.2,
      param: 'x',
    })
    const body = {
      error: { message: 'Slow down.', type: 'rate_limit_error', param: null, code: 'rate_limit_exceeded' },
      request_id: 'r',
    }
    for (const encode of [encodeChatFault, encodeResponsesFault]) {
      const refusal = encode(fault, 'r')
      assert.deepEqual([refusal.status, refusal.body], [429, body])
      assert.deepEqual(refusal.headers, { 'retry-after': '3', 'x-gatehouse-error-code': 'too_many_auth_failures' })
    }
    assert.deepEqual(encodeMessagesFault(fault, 'r').body, {
      type: 'error',
      error: {
        type: 'rate_limit_error',
        message: 'Slow down.',
        details: { error_code: 'too_many_auth_failures' },
      },
      request_id: 'r',
    })
  })

  it('sends x-should-retry: false for a wait of more than a minute, with the true Retry-After', () => {
    const wait = (retryAfterSeconds: number) => {
      const fault = new Fault('rate_limit', 'invalid_request', 'Later.', { retryAfterSeconds })
      const { 'x-gatehouse-error-code': _code, ...headers } = encodeChatFault(fault, 'r').headers
      return headers
    }
    assert.deepEqual(wait(60), { 'retry-after': '60' })
    assert.deepEqual(wait(61), { 'retry-after': '61', 'x-should-retry': 'false' })
    assert.deepEqual(wait(0), { 'retry-after': '1' })
  })

  it('has the headers of the fault, and the policy that decided', () => {
    const policy = { decision: 'refuse', policy_id: 'pol_1', event_id: 'evt_1' }
    const fault = new HttpFault(new Fault('policy', 'invalid_request', 'No.', { policy }), { allow: 'POST' })
    for (const encode of [encodeMessagesFault, encodeChatFault, encodeResponsesFault]) {
      const { headers, body } = encode(fault, 'r')
      assert.equal(headers['allow'], 'POST')
      assert.ok(typeof body === 'object' && body !== null && 'policy' in body)
      assert.equal(body.policy, policy)
    }
  })

  it('sends WWW-Authenticate if the credential is missing or invalid', () => {
    const challenge = (credential: 'missing' | 'invalid') =>
      encodeChatFault(new Fault('auth', 'invalid_api_key', 'No.', { credential }), 'r').headers['www-authenticate']
    assert.equal(challenge('missing'), 'Bearer realm="gatehouse"')
    assert.equal(challenge('invalid'), 'Bearer realm="gatehouse", error="invalid_token"')
    const free = encodeChatFault(new Fault('auth', 'free_request_used', 'No.'), 'r')
    assert.equal('www-authenticate' in free.headers, false)
  })

  it('sends x-should-retry: false for a request that can never succeed', () => {
    const fault = new Fault('rate_limit', 'rate_limit_exceeded', 'No.', { retryAfterSeconds: 2, isPermanent: true })
    assert.deepEqual(encodeChatFault(fault, 'r').headers, {
      'x-should-retry': 'false',
      'retry-after': '2',
      'x-gatehouse-error-code': 'rate_limit_exceeded',
    })
  })

  it('names the header that carries the option at fault', () => {
    const fault = new Fault('malformed', 'invalid_header', 'No.', { option: 'policy_id' })
    assert.deepEqual(encodeChatFault(fault, 'r').body, {
      error: { message: 'No.', type: 'invalid_request_error', param: 'X-Policy-Id', code: 'invalid_header' },
      request_id: 'r',
    })
  })

  it('truncates a long message of an upstream', () => {
    const { body } = encodeResponsesFault(new Fault('upstream_failed', 'upstream_error', 'x'.repeat(9000)), 'r')
    assert.ok(JSON.stringify(body).length < 2200)
  })
})

describe('the error response of count_tokens for an invalid body', () => {
  it('lists every problem with its path and the invalid value', () => {
    const problems = [
      { path: ['messages', 0, 'content'], message: 'must be a string or an array', type: 'type', input: 7 },
      { path: ['model'], message: 'is required', type: 'missing' },
    ]
    const fault = new Fault('validation', 'invalid_parameter', 'messages[0].content: …', { problems })
    const { status, body } = encodeDetailFault(fault, 'r')
    assert.equal(status, 422)
    assert.deepEqual(body, {
      detail: [
        {
          loc: ['body', 'messages', 0, 'content'],
          msg: 'must be a string or an array',
          type: 'type',
          input: 7,
          ctx: {},
        },
        { loc: ['body', 'model'], msg: 'is required', type: 'missing', input: null, ctx: {} },
      ],
      request_id: 'r',
    })
  })

  it('has the same format for a body that is not JSON', () => {
    const { status, body } = encodeDetailFault(
      new Fault('malformed', 'invalid_json', 'The body is not valid JSON.'),
      'r',
    )
    assert.equal(status, 422)
    assert.deepEqual(body, {
      detail: [{ loc: ['body'], msg: 'The body is not valid JSON.', type: 'value', input: null, ctx: {} }],
      request_id: 'r',
    })
  })

  it('has the family’s format for all other errors', () => {
    const fault = new Fault('auth', 'invalid_api_key', 'No.')
    assert.deepEqual(encodeDetailFault(fault, 'r'), encodeMessagesFault(fault, 'r'))
  })
})
