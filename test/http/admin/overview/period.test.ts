import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminSuite } from '../../../support/admin-suite.ts'

type Named = { name: string | null }
type Period = {
  from: number
  to: number
  figures: Record<string, unknown>
  before: Record<string, unknown>
  steps: { start_time: number; requests: number }[]
  denied_by: Named[] | null
  spending_projects: (Named & { id: string; spent_usd: number })[] | null
  spending_keys: (Named & { id: string })[] | null
  publications: (Named & { policy_id: string | null; version: number; actor: Named | null })[]
}

describe('the overview of a period', () => {
  const { app, admin, send } = adminSuite()
  const read = async (query = '', caller = admin()): Promise<Period> =>
    (await caller.get(`/overview/period${query}`)) as unknown as Period
  const ask = async (content: string, model = 'gatehouse-echo'): Promise<void> => {
    const body = { model, max_tokens: 10, messages: [{ role: 'user', content }] }
    await (await app().post('/v1/messages', body)).text()
  }

  it('counts requests by what became of them, and names what came into force and by whom', async () => {
    const rule = 'cel:text.contains("falcon") ? 1.0 : 0.0'
    const { body: policy } = await send('POST', '/policies', { name: 'No code names', rule, mode: 'enforcing' })
    await send('POST', `/policies/${String(policy['id'])}/publish`, { revision: 1 })
    await ask('Hello')
    await ask('the falcon flies')
    await ask('Hello', 'unknown-model')
    const { figures, before, steps, publications, spending_projects: projects } = await read()
    const { requests, denied, failed, rate_limited: rateLimited, other_errors: otherErrors, p95 } = figures
    assert.deepEqual([requests, denied, failed, rateLimited, otherErrors], [3, 1, 0, 0, 1])
    assert.equal((p95 as { estimate_ms: number | null }).estimate_ms, null)
    assert.equal(before['requests'], 0)
    assert.equal(steps.length, 25)
    assert.equal(steps.at(-1)?.requests, 3)
    assert.deepEqual(
      publications.map(({ name, version, policy_id: id, actor }) => [name, version, id, actor?.name]),
      [['No code names', 1, policy['id'], 'First administrator key']],
    )
    assert.deepEqual(projects, [])
  })

  it('names the gateway configuration by its version', async () => {
    const url = '/api/policy-gateway/config'
    const authorization = `Bearer ${app().adminKey}`
    const current = (await (await app().get(url, { authorization })).json()) as { updated_at: string | null }
    const saved = await fetch(app().url + url, {
      method: 'PUT',
      headers: {
        authorization,
        'content-type': 'application/json',
        ...(current.updated_at !== null && { 'if-match': current.updated_at }),
      },
      body: JSON.stringify({ policy_id: 'main', rules: { denylist: ['condor'] } }),
    })
    assert.equal(saved.status, 200, await saved.text())
    const { publications } = await read()
    const [configuration] = publications.filter(({ policy_id: id }) => id === null)
    assert.deepEqual([configuration?.version, configuration?.actor?.name], [1, 'First administrator key'])
  })

  it('leaves out what the permissions of the caller do not show', async () => {
    const reader = await app().adminWith(['audit:read'])
    const { denied_by: deniedBy, spending_keys: keys, publications, figures } = await read('', reader)
    assert.deepEqual([deniedBy, keys, publications, figures['spent_usd']], [null, null, [], null])
    const writer = await app().adminWith(['policies:read'])
    assert.equal((await writer.send('GET', '/overview/period')).status, 403)
  })

  it('may begin before 1970', async () => {
    for (const query of ['?to=0', '?to=90000&step=1d', '?from=0&to=3600'])
      assert.equal((await read(query)).figures['requests'], 0, query)
  })

  it('rejects a period that ends before it starts, and one with too many steps', async () => {
    assert.equal((await send('GET', '/overview/period?from=200&to=100')).status, 422)
    assert.equal((await send('GET', '/overview/period?from=1&step=1m')).status, 422)
  })
})

describe('the first steps of an organization', () => {
  const { app, admin, send } = adminSuite()
  const steps = async () => (await admin().get('/overview'))['first_steps']

  it('are known to the server, no matter who took them', async () => {
    assert.deepEqual(await steps(), { request_id: null, has_policy: false, has_model: false })
    const body = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }
    const response = await app().post('/v1/messages', body)
    await response.text()
    const { body: policy } = await send('POST', '/policies', { name: 'Draft', rule: 'cel:false' })
    const requestId = response.headers.get('x-request-id')
    assert.deepEqual(await steps(), { request_id: requestId, has_policy: false, has_model: false })
    await send('POST', `/policies/${String(policy['id'])}/publish`, { revision: 1 })
    assert.deepEqual(await steps(), { request_id: requestId, has_policy: true, has_model: false })
    const settings = { name: 'own', kind: 'openai-chat', base_url: 'http://127.0.0.1:9', api_key: 'secret' }
    assert.equal((await send('POST', '/upstreams', settings)).status, 201)
    const model = { name: 'own-model', targets: [{ upstream: 'own', model: 'm' }] }
    const created = await send('POST', '/models', model)
    assert.equal(created.status, 201, JSON.stringify(created.body))
    assert.equal(await steps(), null)
  })
})
