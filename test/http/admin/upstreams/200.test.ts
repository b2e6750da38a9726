import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { UpstreamsBody } from '../../../../src/http/admin/upstreams/schema.ts'
import { errorOf, itemsOf, startAdminApp, type AdminApp, type Json } from '../../../support/administration.ts'
import { answerJson, startUpstream, type TestUpstream } from '../../../support/upstream.ts'

const secret = 'sk-upstream-secret-of-this-test'
const absent = { id: null, revision: null, settings: null, created_at: null, updated_at: null }
/** What is stored of an upstream of the configuration. */
const installed = { ...absent, paused: false, hidden: false }
const completion = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
}

describe('the upstreams of an installation', () => {
  let upstream: TestUpstream
  let app: AdminApp
  before(async () => {
    upstream = await startUpstream(answerJson(completion))
    const first = { name: 'first', kind: 'openai-chat', base_url: upstream.url, api_key: secret, max_concurrent: 7 }
    const unused = { name: 'unused', kind: 'anthropic', base_url: upstream.url, headers: { 'x-team': secret } }
    const models = [{ name: 'support', targets: [{ upstream: 'first', model: 'large' }] }]
    app = await startAdminApp({ config: { upstreams: [first, unused], models } })
  })
  after(async () => {
    await app[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
  })

  const list = async (): Promise<Json[]> => itemsOf(await app.admin.get('/upstreams'))
  const probe = (name = 'first', admin = app.admin) => admin.send('POST', `/upstreams/${name}/probe`)

  it('are unknown before their first call', async () => {
    const [first] = await list()
    assert.deepEqual(first, {
      object: 'organization.upstream',
      name: 'first',
      kind: 'openai-chat',
      state: 'unknown',
      failures: 0,
      rest_until: null,
      last_success_at: null,
      last_error: null,
      in_flight: 0,
      max_concurrent: 7,
      p95_ms: null,
      defined_in: { source: 'file', file: null, key: 'upstreams[0]' },
      ...installed,
    })
  })

  it('name the node that answered', async () => {
    const { node } = await app.admin.get('/upstreams')
    assert.match((node as { id: string }).id, /^node_/)
  })

  it('can be called for one token, without a charge', async () => {
    const earlier = upstream.requests.length
    const balance = await app.admin.get('/credits')
    const { status, body } = await probe()
    assert.deepEqual([status, body['success'], body['model'], body['error']], [200, true, 'large', null])
    assert.equal(typeof body['ms'], 'number')
    const [call, ...more] = upstream.requests.slice(earlier)
    assert.deepEqual([JSON.parse(call?.body ?? '')['max_tokens'], more], [1, []])
    assert.deepEqual(await app.admin.get('/credits'), balance)
    const [first] = await list()
    assert.deepEqual(
      [first?.['state'], typeof first?.['p95_ms'], typeof first?.['last_success_at']],
      ['ok', 'number', 'number'],
    )
  })

  it('are called once for a probe and its retries with the same Idempotency-Key', async () => {
    const { admin } = await app.otherOrganization()
    const earlier = upstream.requests.length
    const send = () =>
      admin.send('POST', '/upstreams/first/probe', { headers: { 'idempotency-key': 'the-same-probe' } })
    const first = await send()
    // More retries than probes are allowed in a minute.
    for (let retry = 0; retry < 8; retry++) {
      const { status, headers, body } = await send()
      assert.deepEqual([status, headers.get('idempotent-replayed'), body], [200, 'true', first.body])
    }
    assert.equal(upstream.requests.length - earlier, 1)
  })

  it('are called once for two probes at the same time with the same Idempotency-Key', async () => {
    const { admin } = await app.otherOrganization()
    const earlier = upstream.requests.length
    const send = () => admin.send('POST', '/upstreams/first/probe', { headers: { 'idempotency-key': 'twice-at-once' } })
    let retry: ReturnType<typeof send> | undefined
    upstream.answer((response, request) => {
      retry ??= send().finally(() => void answerJson(completion)(response, request))
    })
    assert.equal((await send()).status, 200)
    const answer = await retry
    assert.deepEqual([answer?.status, answer && errorOf(answer)['code']], [409, 'idempotency_in_progress'])
    assert.equal(upstream.requests.length - earlier, 1)
    upstream.answer(answerJson(completion))
  })

  it('leave an audit event for each probe, with its actor and result', async () => {
    const [event] = itemsOf(await app.admin.get('/audit_logs?kind=upstream.probed&limit=1'))
    const { actor, resource_id: upstreamName } = event as { actor: { type: string }; resource_id: string }
    assert.deepEqual([actor.type, upstreamName], ['admin_key', 'first'])
  })

  it('count the calls of requests, and say when and why one failed', async () => {
    upstream.answer(answerJson({ error: { message: `The key ${secret} is wrong` } }, 500))
    for (let request = 0; request < 3; request++)
      await (
        await app.post('/v1/chat/completions', { model: 'support', messages: [{ role: 'user', content: 'Hi' }] })
      ).text()
    const [first] = await list()
    const { state, failures, rest_until: restUntil, last_error: lastError } = first as Json
    assert.equal(state, 'resting')
    assert.ok(Number(failures) >= 3)
    assert.ok(Number(restUntil) > Date.now() / 1000)
    assert.equal((lastError as Json)['code'], 'upstream_error')
  })

  it('stop resting after a probe that succeeds', async () => {
    upstream.answer(answerJson(completion))
    assert.equal((await probe()).body['success'], true)
    assert.deepEqual([(await list())[0]?.['state'], (await list())[0]?.['failures']], ['ok', 0])
  })

  it('report a failed probe without their secrets, with 200', async () => {
    const { admin } = await app.otherOrganization()
    for (const status of [400, 401, 500]) {
      upstream.answer(answerJson({ error: { message: `Incorrect API key provided: ${secret}` } }, status))
      const answer = await probe('first', admin)
      assert.deepEqual([answer.status, answer.body['success']], [200, false])
      assert.doesNotMatch(JSON.stringify(answer.body), new RegExp(secret))
    }
  })

  it('cannot be probed more than six times a minute, and the error says when to try again', async () => {
    const { admin } = await app.otherOrganization()
    upstream.answer(answerJson(completion))
    for (let at = 0; at < 6; at++) assert.equal((await probe('first', admin)).status, 200)
    const answer = await probe('first', admin)
    assert.deepEqual([answer.status, errorOf(answer)['code']], [429, 'rate_limit_exceeded'])
    assert.ok(Number(answer.headers.get('retry-after')) >= 1)
  })

  it('of which no model is known are reported as such', async () => {
    const { admin } = await app.otherOrganization()
    upstream.answer(answerJson({ data: [] }))
    const { body } = await probe('unused', admin)
    assert.deepEqual(
      [body['success'], body['model'], (body['error'] as Json)['code']],
      [false, null, 'model_not_found'],
    )
  })

  it('answer 404 under an unknown name', async () => {
    const { admin } = await app.otherOrganization()
    const answer = await probe('nobody', admin)
    assert.deepEqual([answer.status, errorOf(answer)['param']], [404, 'upstream'])
  })

  it('are listed without addresses and secrets', async () => {
    const body = JSON.stringify(await app.admin.get('/upstreams'))
    assert.doesNotMatch(body, new RegExp(secret))
    assert.doesNotMatch(body, /127\.0\.0\.1/)
  })
})

describe('the upstreams where administration.system_visible is false', () => {
  it('are for the operator only, except those that the organization added', async () => {
    const limits = { requests_per_minute: 1_000, concurrent_requests: 100 }
    const administration = { credential: limits, organization: limits, system_visible: false }
    await using app = await startAdminApp({ config: { administration } })
    const probed = await app.admin.send('POST', '/upstreams/echo/probe')
    assert.deepEqual([probed.status, errorOf(probed)['code']], [403, 'permission_denied'])
    await app.admin.post('/upstreams', { name: 'own', kind: 'echo' })
    const { node, ...listed } = await app.admin.get('/upstreams')
    assert.deepEqual([node, itemsOf(listed).map(({ name }) => name)], [null, ['own']])
    assert.equal((await app.admin.send('GET', '/upstreams/echo')).status, 404)
    const operator = app.app.client.inOrganization(app.organizationId)
    assert.equal((await operator.get<UpstreamsBody>('/v1/organization/upstreams')).data.length, 2)
  })
})
