import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { scheduler } from 'node:timers/promises'
import { errorOf, itemsOf, textOf, type Json } from '../../../support/administration.ts'
import { gatewaySuite } from '../../../support/gateway-suite.ts'

const path = '/config/backtest'

describe('a backtest of a gateway configuration over HTTP', () => {
  const { scene, send } = gatewaySuite({ config: { audit: { content: 'full' } } })
  const ask = (content: string) =>
    scene().post('/v1/messages', { model: 'gatehouse-echo', max_tokens: 32, messages: [{ role: 'user', content }] })
  const byAdmin = (method: string, to: string, body?: Json) => send(method, to, { body, key: scene().admin.key })

  async function completed(body: Json, key = scene().admin.key): Promise<Json> {
    const started = await send('POST', path, { body, key })
    assert.equal(started.status, 201, JSON.stringify(started.body))
    for (;;) {
      const { body: backtest } = await send('GET', `${path}/${textOf(started.body)}`, { key })
      if (backtest['status'] !== 'running') return backtest
      await scheduler.wait(50)
    }
  }

  before(async () => {
    for (const text of ['What is Falcon?', 'Hello', 'Write to ann@example.com'])
      assert.equal((await ask(text)).status, 200)
    assert.equal((await send('PUT', '/config', { body: { rules: { denylist: ['sparrow'] } } })).status, 200)
    assert.equal((await ask('A sparrow')).status, 400)
  })

  it('compares what was decided with what the configuration in the body decides, and saves nothing', async () => {
    const config = { rules: { denylist: ['falcon'], redact: true } }
    const { body: saved } = await send('GET', '/config')
    const started = await byAdmin('POST', path, { config, limit: 50 })
    assert.partialDeepStrictEqual(started.body, {
      object: 'policy_gateway.backtest',
      status: 'running',
      progress: { done: 0, total: 50 },
      limit: 50,
      sample_percent: 100,
      result: null,
      error: null,
    })
    const { result, progress } = await completed({ config, limit: 50 })
    assert.deepEqual(progress, { done: 4, total: 4 })
    const counts = {
      newly_blocked: 1,
      newly_allowed: 1,
      newly_modified: 1,
      no_longer_modified: 0,
      changed_reason: 0,
      unchanged: 1,
      not_evaluated: 0,
    }
    assert.partialDeepStrictEqual(result, {
      ...counts,
      projects: [{ project_id: scene().projectId, ...counts }],
      not_evaluated_reasons: [],
      coverage: { events: 4, sampled: 4, with_text: 4, redacted_only: 0, from_sample: 0 },
    })
    assert.doesNotMatch(JSON.stringify(result), /falcon|sparrow/i)
    assert.deepEqual((await send('GET', '/config')).body, saved)
  })

  it('of the saved configuration changes nothing', async () => {
    assert.partialDeepStrictEqual(await completed({}), { result: { unchanged: 4, newly_blocked: 0 } })
  })

  it('names examples that are among the requests', async () => {
    const { result } = await completed({ config: { rules: { denylist: ['falcon', 'sparrow'] } } })
    const [example] = (result as { example_requests: Json[] }).example_requests
    assert.partialDeepStrictEqual(example, { change: 'newly_blocked', recorded: 'allow', candidate: 'refuse' })
    const request = await scene().admin.get(`/requests/${String(example?.['request_id'])}`)
    assert.equal(request['event_id'], example?.['event_id'])
  })

  it('has the digest of its configuration, which equal configurations share', async () => {
    const digestOf = async (config: Json) => (await byAdmin('POST', path, { config })).body['config_digest']
    const digest = await digestOf({ rules: { denylist: ['a', 'a'] } })
    assert.match(String(digest), /^[0-9a-f]{64}$/)
    assert.equal(await digestOf({ rules: { denylist: ['a'], redact: false } }), digest)
    assert.notEqual(await digestOf({ rules: { denylist: ['b'] } }), digest)
  })

  it('rejects a wrong configuration, and a range that ends before it starts, and names the field', async () => {
    for (const [body, param] of [
      [{ config: { rules: { denylist: ['/(/'] } } }, 'config.rules.denylist[0]'],
      [{ config: { rules: { unknown: true } } }, 'config.rules.unknown'],
      [{ from: 9, to: 9 }, 'from'],
      [{ limit: 0 }, 'limit'],
    ] as const) {
      const answer = await byAdmin('POST', path, body)
      assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param], JSON.stringify(answer.body))
    }
  })

  it('is started only by those who may read the texts, because its counts reveal them', async () => {
    const writer = await scene().adminWith(['gateway:read', 'gateway:write', 'audit:read'])
    const rejected = await send('POST', path, { body: {}, key: writer.key })
    assert.equal(rejected.status, 403)
    assert.match(String(errorOf(rejected)['message']), /content:read/)
  })

  it('is listed without those of policies, can be cancelled, and is in the audit log', async () => {
    const policy = await scene().admin.post('/policies', { name: 'Other', rule: 'cel:true' })
    await scene().admin.post(`/policies/${textOf(policy)}/backtest`, {})
    const { body } = await byAdmin('POST', path, {})
    const [newest] = itemsOf((await byAdmin('GET', path)).body)
    assert.equal(newest?.['id'], textOf(body))
    assert.ok(itemsOf((await byAdmin('GET', path)).body).every(({ object }) => object === 'policy_gateway.backtest'))
    const cancelled = await byAdmin('POST', `${path}/${textOf(body)}/cancel`)
    assert.equal(cancelled.status, 200)
    assert.notEqual(cancelled.body['status'], 'running')
    const [entry] = itemsOf(await scene().admin.get(`/audit_logs?kind=backtest.created`))
    assert.partialDeepStrictEqual(entry, {
      resource_id: textOf(body),
      actor: { type: 'admin_key' },
      details: { gateway_config_digest: body['config_digest'] },
    })
  })

  it('of another organization has none of its requests', async () => {
    const other = await scene().otherOrganization()
    const backtest = await completed({ config: { rules: { denylist: ['falcon'] } } }, other.admin.key)
    assert.partialDeepStrictEqual(backtest, { result: { newly_blocked: 0, coverage: { events: 0 } } })
  })
})
