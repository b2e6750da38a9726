import assert from 'node:assert/strict'
import { scheduler } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'
import { itemsOf, startAdminApp, textOf, type AdminApp, type Json } from '../support/administration.ts'

describe('a running app', () => {
  let app: AdminApp
  before(async () => {
    app = await startAdminApp()
  })
  after(() => app[Symbol.asyncDispose]())

  const send = (content: string, headers: Record<string, string> = {}): Promise<Response> =>
    app.post(
      '/v1/messages',
      { model: 'gatehouse-echo', max_tokens: 16, messages: [{ role: 'user', content }] },
      { authorization: `Bearer ${app.apiKey}`, ...headers },
    )
  const statusOf = async (content: string): Promise<number> => (await send(content)).status
  const save = async (config: object): Promise<void> =>
    assert.equal((await app.post('/api/policy-gateway/config', config)).status, 200)

  /** Sends requests for several users, of which the last are denied. */
  async function spike(word: string): Promise<void> {
    for (let count = 0; count < 14; count++) assert.equal(await statusOf('Hello'), 200)
    for (let count = 0; count < 6; count++) {
      const { status } = await send(`About the ${word}`, { 'x-policy-user': `user ${count}` })
      assert.equal(status, 400)
    }
  }
  async function publish(settings: object): Promise<string> {
    const policy = textOf(await app.admin.post('/policies', { name: 'P', mode: 'enforcing', ...settings }))
    await app.admin.post(`/policies/${policy}/publish`, { revision: 1 })
    return policy
  }
  async function logged(kind: string): Promise<Json> {
    for (;;) {
      const [entry] = itemsOf(await app.admin.get(`/audit_logs?kind=${kind}`))
      if (entry) return entry
      await scheduler.wait(20)
    }
  }

  it('rolls back a configuration whose denials spike, until it is saved again', async () => {
    const config = { rules: { denylist: ['falcon'] }, rollout: { rollback_on_spike: true } }
    await save(config)
    await spike('falcon')
    const { actor, details } = await logged('gateway.rollout.rolled_back')
    assert.deepEqual(actor, { type: 'system', id: null })
    assert.partialDeepStrictEqual(details, { rollout_mode: 'rollback', spike: { requests: 20, denials: 6 } })
    assert.equal(await statusOf('About the falcon'), 200)
    await save(config)
    assert.equal(await statusOf('About the falcon'), 400)
    await save({})
  })

  it('reports a policy whose denials spike, which stays in force', async () => {
    const policy = await publish({ rule: 'Never say "heron".' })
    await spike('heron')
    const { resource_id: id, details } = await logged('policy.denial_spike.reported')
    assert.equal(id, policy)
    assert.partialDeepStrictEqual(details, { name: 'P', spike: { denied_callers: 6 } })
    assert.equal(await statusOf('About the heron'), 400)
    const { attention } = (await app.admin.get('/overview')) as { attention: Json[] }
    assert.partialDeepStrictEqual(
      attention.find(({ kind }) => kind === 'policy_denials_spiked'),
      { severity: 'warning', object_id: policy },
    )
    assert.match(
      await (await app.get('/metrics')).text(),
      /^gatehouse_spikes_total\{subject="policy",action="reported"\} 1$/m,
    )
    await app.admin.send('DELETE', `/policies/${policy}?revision=2`)
  })

  it('pauses a policy that asks for it when its denials spike, and none for the denials of one caller', async () => {
    await publish({ name: 'One caller', rule: 'Never say "crane".', pause_on_spike: true })
    for (let count = 0; count < 25; count++) assert.equal(await statusOf('About the crane'), 400)
    const policy = await publish({ rule: 'Never say "eagle".', pause_on_spike: true })
    await spike('eagle')
    const { resource_id: id, old_revision: from, new_revision: to } = await logged('policy.paused')
    assert.deepEqual([id, from, to], [policy, 2, 3])
    assert.equal(await statusOf('About the eagle'), 200)
    assert.equal(await statusOf('About the crane'), 400)
    assert.match(
      await (await app.get('/metrics')).text(),
      /^gatehouse_spikes_total\{subject="policy",action="disabled"\} 1$/m,
    )
  })

  it('enforces the quotas of users and projects', async () => {
    const quota = { requests: 2, tokens: 0, window: 'month' }
    await save({ org_controls: { user_quotas: true, user_quota: quota } })
    const ann = { 'x-policy-user': 'ann' }
    assert.deepEqual([(await send('Hi', ann)).status, (await send('Hi', ann)).status], [200, 200])
    const rejected = await send('Hi', ann)
    assert.equal(rejected.status, 429)
    assert.ok(Number(rejected.headers.get('retry-after')) > 0)
    const body = (await rejected.json()) as { policy: { event_id: string } }
    assert.partialDeepStrictEqual(body, {
      error: { type: 'rate_limit_error' },
      policy: { decision: 'refuse', enforced: true, reason_code: 'USER_QUOTA_EXCEEDED' },
    })
    const [event] = itemsOf(await app.admin.get('/audit_logs?user_id=ann&decision=refuse'))
    assert.deepEqual([event?.['id'], event?.['user_id']], [body.policy.event_id, 'ann'])
    assert.equal((await send('Hi', { 'x-policy-user': 'bob' })).status, 200)
    await save({ org_controls: { project_quota: { ...quota, requests: 1 } } })
    assert.deepEqual([await statusOf('Hi'), await statusOf('Hi')], [200, 429])
  })
})
