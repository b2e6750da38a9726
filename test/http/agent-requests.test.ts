import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { answerJson, startUpstream, type TestUpstream } from '../support/upstream.ts'

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 3, output_tokens: 1 },
}

describe('a request of a coding agent', () => {
  let upstream: TestUpstream
  let app: TestApp
  before(async () => {
    upstream = await startUpstream(answerJson(message))
    const targets = [{ upstream: 'claude' }]
    app = await startTestApp({
      config: {
        upstreams: [{ name: 'claude', kind: 'anthropic', base_url: upstream.url }],
        models: [
          { name: 'named', targets: [{ upstream: 'claude', model: 'claude-named' }] },
          { name: 'own[1m]', targets: [{ upstream: 'claude', model: 'claude-own' }] },
          { name: 'claude-*', targets },
        ],
      },
    })
  })
  after(async () => {
    await app[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
  })

  const ask = async (model: string, headers: Readonly<Record<string, string>> = {}) => {
    const body = { model, max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] }
    const answer = await app.post('/v1/messages', body, { authorization: `Bearer ${app.apiKey}`, ...headers })
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    const { headers: sent, body: sentBody = '{}' } = upstream.requests.at(-1) ?? {}
    return {
      model: (JSON.parse(text) as { model: string }).model,
      upstreamModel: (JSON.parse(sentBody) as { model: string }).model,
      features: sent?.['anthropic-beta'],
    }
  }

  it('may append [1m] to a model, which its upstream gets as a beta feature', async () => {
    const features = 'context-1m-2025-08-07'
    assert.deepEqual(await ask('named[1m]'), { model: 'named', upstreamModel: 'claude-named', features })
    assert.deepEqual(await ask('claude-x[1m]', { 'anthropic-beta': 'a' }), {
      model: 'claude-x',
      upstreamModel: 'claude-x',
      features: `a,${features}`,
    })
    assert.equal((await ask('claude-x')).features, undefined)
  })

  it('gets a model that is configured with such a name', async () => {
    assert.equal((await ask('own[1m]')).upstreamModel, 'claude-own')
  })

  it('is rejected if only the name without the option is unknown', async () => {
    const answer = await app.post('/v1/messages', {
      model: 'x[1m]',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Hi' }],
    })
    assert.equal(answer.status, 404)
  })

  it('may use only the models of its key, with and without the option', async () => {
    const created = await fetch(`${app.url}/v1/organization/projects/${app.projectId}/api_keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'limited', models: ['named'] }),
    })
    const { value } = (await created.json()) as { value: string }
    const authorization = `Bearer ${value}`
    assert.equal((await ask('named[1m]', { authorization })).model, 'named')
    const body = { model: 'claude-x[1m]', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }
    assert.equal((await app.post('/v1/messages', body, { authorization })).status, 403)
  })

  it('is recorded with the session that the agent names', async () => {
    const sessions = {
      'x-claude-code-session-id': 'claude-session',
      session_id: 'codex-session',
      'x-opencode-session': 'opencode-session',
      'x-task-id': 'x'.repeat(1_000),
    }
    for (const [name, value] of Object.entries(sessions)) await ask('named', { [name]: value })
    const headers = { authorization: `Bearer ${app.adminKey}` }
    const answer = await app.get('/v1/organization/audit_logs?kind=gateway.request.decided&limit=4', headers)
    const { data } = (await answer.json()) as { data: { details: { session_id?: string } }[] }
    assert.deepEqual(data.map(({ details }) => details.session_id).toReversed(), [
      'claude-session',
      'codex-session',
      'opencode-session',
      'x'.repeat(256),
    ])
  })
})
