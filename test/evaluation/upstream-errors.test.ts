import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { httpKinds, type HttpKind } from '../clients/scripted-upstream.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { startUpstream } from '../support/upstream.ts'

type Json = Readonly<Record<string, unknown>>
type Reply = { readonly status: number; readonly body: string }

const paths: Readonly<Record<HttpKind, string>> = {
  anthropic: '/v1/messages',
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
}

const requests: Readonly<Record<HttpKind, Json>> = {
  anthropic: { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 50 },
  'openai-chat': { messages: [{ role: 'user', content: 'Hello' }] },
  'openai-responses': { input: 'Hello', store: false },
}

const rejection = (message: string, more: Json = {}): Json => ({
  type: 'error',
  error: { type: 'invalid_request_error', message, ...more },
})
const frame = (body: Json): string => `event: ${String(body['type'])}\ndata: ${JSON.stringify(body)}\n\n`

/** Long enough that its start is sent before the stream fails. */
const paragraph = 'The garden is quiet in the morning, and the birds sing in the old trees by the river. '.repeat(40)
const failingStream = (message: string, more: Json = {}): string =>
  [
    {
      type: 'message_start',
      message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage: { input_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: paragraph } },
    { type: 'content_block_stop', index: 0 },
    rejection(message, more),
  ]
    .map(frame)
    .join('')

describe('the message of an upstream’s own error', () => {
  const opened = new AsyncDisposableStack()
  let app: TestApp
  let reply: Reply = { status: 500, body: '' }

  before(async () => {
    const upstream = opened.use(
      await startUpstream((response) => {
        const type = reply.status === 200 ? 'text/event-stream' : 'application/json'
        response.writeHead(reply.status, { 'content-type': type })
        response.end(reply.body)
      }),
    )
    const urlOf = (kind: HttpKind): string => `${upstream.url}${kind === 'anthropic' ? '' : '/v1'}`
    app = opened.use(
      await startTestApp({
        config: {
          upstreams: httpKinds.map((kind) => ({ name: kind, kind, base_url: urlOf(kind) })),
          models: httpKinds.map((kind) => ({ name: kind, targets: [{ upstream: kind, model: 'm' }] })),
        },
      }),
    )
    await govern({ denylist: ['falcon'] })
  })
  after(() => opened.disposeAsync())

  async function govern(rules: Json): Promise<void> {
    const headers = { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ rules })
    const saved = await fetch(`${app.url}/api/policy-gateway/config`, { method: 'PUT', headers, body })
    assert.equal(saved.status, 200, await saved.text())
  }

  async function send(kind: HttpKind, more: Json = {}): Promise<{ readonly status: number; readonly body: string }> {
    const answer = await app.post(paths[kind], { model: kind, ...requests[kind], ...more })
    return { status: answer.status, body: await answer.text() }
  }

  for (const kind of httpKinds) {
    for (const status of [400, 404, 413, 422]) {
      it(`is withheld if a rule denies it: ${kind}, ${status}`, async () => {
        reply = { status, body: JSON.stringify(rejection('the falcon is not a valid value')) }
        const answer = await send(kind)
        assert.equal(answer.status, status === 413 ? 413 : 400)
        assert.doesNotMatch(answer.body, /falcon/)
        assert.match(answer.body, /upstream rejected the request/)
      })
    }
  }

  it('is withheld if its category is always blocked', async () => {
    reply = {
      status: 400,
      body: JSON.stringify(rejection('I can not do this anymore. I want to kill myself tonight.')),
    }
    assert.doesNotMatch((await send('openai-chat')).body, /kill myself/)
  })

  it('still starts with the words that make an agent compact its prompt', async () => {
    reply = { status: 400, body: JSON.stringify(rejection('prompt is too long: the falcon has 9 tokens')) }
    const { body } = await send('anthropic')
    assert.match(body, /prompt is too long/)
    assert.doesNotMatch(body, /falcon/)
  })

  it('is withheld in the middle of a stream', async () => {
    reply = { status: 200, body: failingStream('the falcon is not a valid value') }
    const { body } = await send('anthropic', { stream: true })
    assert.match(body, /event: error/)
    assert.doesNotMatch(body, /falcon/)
  })

  it('is withheld if it has personal data that is redacted in responses', async () => {
    reply = { status: 400, body: JSON.stringify(rejection('unknown user jane.doe@example.org')) }
    await govern({ redact: true })
    try {
      assert.doesNotMatch((await send('openai-chat')).body, /jane/)
    } finally {
      await govern({ denylist: ['falcon'] })
    }
  })

  it('is audited as a denial of the response', async () => {
    reply = { status: 400, body: JSON.stringify(rejection('the falcon is not a valid value')) }
    await send('openai-chat')
    const headers = { authorization: `Bearer ${app.adminKey}` }
    const events = await fetch(`${app.url}/v1/organization/audit_logs?limit=1`, { headers })
    const logged = await events.text()
    assert.match(logged, /"upstream_rejected"/)
    assert.match(logged, /"refuse"/)
    assert.match(logged, /"response"/)
  })

  it('is withheld together with its details if a rule denies those', async () => {
    for (const details of [{ error_code: 'x', field: { name: 'the falcon' } }, { falcon: true }]) {
      reply = { status: 400, body: JSON.stringify(rejection('not a valid value', { details })) }
      const { body } = await send('anthropic')
      assert.match(body, /upstream rejected the request/)
      assert.doesNotMatch(body, /falcon/)
      assert.match(body, /"details":{"error_code":"upstream_rejected"}/)
    }
  })

  it('has its details in the same dialect if no rule denies them', async () => {
    const details = { error_code: 'tool_name_conflict', tool_name: 'weather' }
    reply = { status: 400, body: JSON.stringify(rejection('The tool exists.', { details })) }
    const { error } = JSON.parse((await send('anthropic')).body) as { error: Json }
    assert.deepEqual(error, { type: 'invalid_request_error', message: 'The tool exists.', details })
    reply = { status: 200, body: failingStream('The tool exists.', { details }) }
    assert.match((await send('anthropic', { stream: true })).body, /"details":{"error_code":"tool_name_conflict"/)
  })

  it('has only the gateway’s code if they are too long, or if the error is about the gateway’s account', async () => {
    const long = { error_code: 'x', names: Array.from({ length: 1000 }, (_, at) => `name ${at}`) }
    reply = { status: 400, body: JSON.stringify(rejection('Too many.', { details: long })) }
    const { error } = JSON.parse((await send('anthropic')).body) as { error: Json }
    assert.deepEqual(error['details'], { error_code: 'upstream_rejected' })
    for (const status of [401, 403, 500]) {
      reply = { status, body: JSON.stringify(rejection('No.', { details: { error_code: 'cmek_key_disabled' } })) }
      assert.doesNotMatch((await send('anthropic')).body, /cmek/)
    }
  })

  it('reaches the caller unchanged if no rule denies it', async () => {
    reply = { status: 400, body: JSON.stringify(rejection('temperature: must be at most 1, jane.doe@example.org')) }
    assert.match((await send('openai-chat')).body, /temperature: must be at most 1, jane\.doe@example\.org/)
  })
})
