import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import OpenAI from 'openai'
import {
  errorOf,
  itemsOf,
  startAdminApp,
  textOf,
  type Admin,
  type AdminApp,
  type Json,
} from '../../../support/administration.ts'
import { answerJson, startUpstream, type TestUpstream } from '../../../support/upstream.ts'

const secret = 'sk-secret-of-the-organization-0123'
const completion = (content: string) => ({
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1000, completion_tokens: 1000 },
})

describe('upstreams and models that an organization adds', () => {
  let server: TestUpstream
  let app: AdminApp
  before(async () => {
    server = await startUpstream(answerJson(completion('Hello')))
    app = await startAdminApp({ config: { upstreams: [{ name: 'shared', kind: 'echo' }], models: [installed] } })
  })
  after(async () => {
    await app[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })

  const installed = { name: 'installed', targets: [{ upstream: 'shared' }] }

  let count = 0
  /** Adds an upstream and a model that uses it. */
  async function add(more: { upstream?: Json; model?: Json } = {}, admin = app.admin) {
    const name = `entry-${++count}`
    const upstream = await admin.post('/upstreams', {
      name,
      kind: 'openai-chat',
      base_url: server.url,
      api_key: secret,
      ...more.upstream,
    })
    const targets = [{ upstream: name, model: 'large' }]
    const model = await admin.post('/models', { name: `${name}-model`, targets, ...more.model })
    return { name, upstream, model, modelName: textOf(model, 'name') }
  }

  async function ask(model: string, key = app.apiKey) {
    const response = await fetch(`${app.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    })
    return { status: response.status, text: await response.text() }
  }

  const eventsOf = async (kind: string): Promise<Json[]> => itemsOf(await app.admin.get(`/audit_logs?kind=${kind}`))

  it('serve a request right after the response, through the official client', async () => {
    const { modelName } = await add()
    const client = new OpenAI({ apiKey: app.apiKey, baseURL: `${app.url}/v1`, maxRetries: 0 })
    const listed = await client.models.list()
    assert.ok(listed.data.some(({ id }) => id === modelName))
    const answer = await client.chat.completions.create({
      model: modelName,
      messages: [{ role: 'user', content: 'Hi' }],
    })
    assert.equal(answer.choices[0]?.message.content, 'Hello')
    const sent = server.requests.at(-1)
    assert.equal(sent?.headers.authorization, `Bearer ${secret}`)
    assert.equal(JSON.parse(sent?.body ?? '{}').model, 'large')
  })

  it('are listed beside those of the installation, with where they come from', async () => {
    const { name, modelName } = await add({ model: { price: { input: 3, output: 15 } } })
    const models = itemsOf(await app.admin.get('/models'))
    const shared = models.find((model) => model['name'] === 'installed')
    assert.deepEqual([shared?.['id'], shared?.['paused'], shared?.['settings']], [null, false, null])
    const own = models.find((model) => model['name'] === modelName)
    assert.deepEqual(own?.['defined_in'], { source: 'organization', file: null, key: null })
    assert.deepEqual(own?.['price'], { input: 3, output: 15, cache_read: 3, cache_write: 3 })
    assert.deepEqual(own?.['targets'], [{ upstream: name, upstream_kind: 'openai-chat', model: 'large' }])
    const byName = await app.admin.get(`/models/${modelName}`)
    assert.deepEqual(await app.admin.get(`/models/${textOf(byName)}`), byName)
    const upstream = await app.admin.get(`/upstreams/${name}`)
    assert.deepEqual(upstream['settings'], { kind: 'openai-chat', base_url: server.url, api_key: '••••0123' })
    assert.equal((await app.admin.get('/upstreams/shared'))['id'], null)
  })

  it('keep their secrets out of every response and event', async () => {
    const headers = { 'x-team': 'header-secret-of-the-organization' }
    const { name, upstream } = await add({ upstream: { headers } })
    const changed = await app.admin.send('PATCH', `/upstreams/${name}`, {
      body: { api_key: 'sk-second-secret-of-them-9876' },
    })
    server.answer(answerJson({ error: { message: `bad key sk-second-secret-of-them-9876 ${headers['x-team']}` } }, 401))
    const probe = await app.admin.send('POST', `/upstreams/${name}/probe`)
    const failed = await ask(`${name}-model`)
    server.answer(answerJson(completion('Hello')))
    const events = [
      await eventsOf('upstream.created'),
      await eventsOf('upstream.updated'),
      await eventsOf('upstream.probed'),
    ]
    const all = JSON.stringify([upstream, changed.body, probe.body, failed, events, await app.admin.get('/upstreams')])
    for (const text of [secret, 'sk-second-secret', headers['x-team']]) assert.ok(!all.includes(text), text)
    const [update] = await eventsOf('upstream.updated')
    assert.match(JSON.stringify(update), /"\(changed\)"/)
  })

  it('reject a change of the address that would send a kept secret elsewhere', async () => {
    const { name } = await add()
    const moved = await app.admin.send('PATCH', `/upstreams/${name}`, { body: { base_url: 'http://127.0.0.1:9' } })
    assert.equal(moved.status, 422)
    assert.match(String(errorOf(moved)['message']), /api_key: must be sent again/)
    const sent = { base_url: 'http://127.0.0.1:9', api_key: 'another-key' }
    assert.equal((await app.admin.send('PATCH', `/upstreams/${name}`, { body: sent })).status, 200)
  })

  it('keep a secret that is sent back masked', async () => {
    const { name, upstream } = await add()
    const { settings } = upstream as { settings: Json }
    const body = { api_key: settings['api_key'], timeout_ms: 1000 }
    assert.equal((await app.admin.send('PATCH', `/upstreams/${name}`, { body })).status, 200)
    await ask(`${name}-model`)
    assert.equal(server.requests.at(-1)?.headers.authorization, `Bearer ${secret}`)
    const other = { name: 'masked', kind: 'openai-chat', api_key: settings['api_key'] }
    assert.equal((await app.admin.send('POST', '/upstreams', { body: other })).status, 422)
  })

  it('reject variables and files of the server', async () => {
    for (const api_key of ['${HOME}', '${file:/etc/passwd}']) {
      const rejected = await app.admin.send('POST', '/upstreams', { body: { name: 'x', kind: 'anthropic', api_key } })
      assert.equal(rejected.status, 422)
      assert.match(String(errorOf(rejected)['message']), /api_key: variables and files .* configuration file/)
    }
  })

  it('reject link-local and metadata addresses', async () => {
    const addresses = [
      'http://169.254.169.254/v1',
      'http://[fe80::1]/v1',
      'http://[::ffff:169.254.169.254]/',
      'http://0.0.0.0/',
    ]
    for (const base_url of [
      ...addresses,
      'http://[fd00:ec2::254]/',
      'http://168.63.129.16',
      'http://user:pw@127.0.0.1',
    ]) {
      const rejected = await app.admin.send('POST', '/upstreams', {
        body: { name: 'x', kind: 'openai-chat', base_url },
      })
      assert.deepEqual([rejected.status, errorOf(rejected)['param']], [422, 'base_url'], base_url)
      const tested = await app.admin.send('POST', '/upstreams/test', { body: { kind: 'openai-chat', base_url } })
      assert.deepEqual([tested.status, errorOf(tested)['param']], [422, 'base_url'], base_url)
    }
  })

  it('cannot take a name of the installation or of another entry', async () => {
    const { name, modelName } = await add()
    for (const body of [
      { name: 'shared', kind: 'echo' },
      { name, kind: 'echo' },
    ]) {
      const rejected = await app.admin.send('POST', '/upstreams', { body })
      assert.deepEqual(
        [rejected.status, errorOf(rejected)['code'], errorOf(rejected)['param']],
        [409, 'duplicate_name', 'name'],
      )
    }
    for (const taken of ['installed', modelName]) {
      const rejected = await app.admin.send('POST', '/models', { body: { name: taken, targets: [{ upstream: name }] } })
      assert.deepEqual([rejected.status, errorOf(rejected)['code']], [409, 'duplicate_name'])
    }
  })

  it('leave those of the installation as they are', async () => {
    for (const [method, path] of [
      ['PATCH', '/upstreams/shared'],
      ['DELETE', '/upstreams/shared'],
      ['PATCH', '/models/installed'],
      ['DELETE', '/models/installed'],
    ] as const) {
      const rejected = await app.admin.send(method, path, method === 'PATCH' ? { body: { paused: true } } : {})
      assert.deepEqual([rejected.status, errorOf(rejected)['code']], [409, 'defined_in_configuration'], path)
    }
  })

  it('skip a paused upstream, and say so when no other is left', async () => {
    const { name } = await add()
    await app.admin.post('/upstreams', { name: `${name}-echo`, kind: 'echo' })
    const model = { name: `${name}-two`, targets: [{ upstream: name }, { upstream: `${name}-echo` }] }
    await app.admin.post('/models', model)
    await app.admin.send('PATCH', `/upstreams/${name}`, { body: { paused: true } })
    const callsBefore = server.requests.length
    assert.equal((await ask(`${name}-two`)).status, 200)
    assert.equal(server.requests.length, callsBefore, 'the paused upstream is not called')
    const none = await ask(`${name}-model`)
    assert.equal(none.status, 503)
    assert.match(none.text, new RegExp(`upstream_paused|Every upstream of the model ${name}-model is paused`))
    await app.admin.send('PATCH', `/upstreams/${name}`, { body: { paused: false } })
    assert.equal((await ask(`${name}-model`)).status, 200)
    const kinds = [await eventsOf('upstream.paused'), await eventsOf('upstream.resumed')]
    assert.ok(kinds.every((events) => events.some((event) => JSON.stringify(event).includes(name))))
  })

  it('reject requests for a paused model and leave it out of the list', async () => {
    const { modelName } = await add()
    await app.admin.send('PATCH', `/models/${modelName}`, { body: { paused: true } })
    const rejected = await ask(modelName)
    assert.equal(rejected.status, 404)
    assert.match(rejected.text, /model_paused/)
    const response = await fetch(`${app.url}/v1/models`, { headers: { authorization: `Bearer ${app.apiKey}` } })
    assert.ok(!(await response.text()).includes(modelName))
    const [request] = itemsOf(await app.admin.get('/requests?limit=1'))
    assert.match(JSON.stringify(request), /model_paused/)
  })

  it('try targets in the order of the last change', async () => {
    const { name, modelName } = await add()
    await app.admin.post('/upstreams', { name: `${name}-echo`, kind: 'echo' })
    const targets = [{ upstream: `${name}-echo` }, { upstream: name, model: 'large' }]
    await app.admin.send('PATCH', `/models/${modelName}`, { body: { targets } })
    const callsBefore = server.requests.length
    assert.equal((await ask(modelName)).status, 200)
    assert.equal(server.requests.length, callsBefore)
    await app.admin.send('PATCH', `/models/${modelName}`, { body: { targets: targets.toReversed() } })
    await ask(modelName)
    assert.equal(server.requests.length, callsBefore + 1)
  })

  it('cannot lose an upstream that a model uses', async () => {
    const { name, modelName } = await add()
    const rejected = await app.admin.send('DELETE', `/upstreams/${name}`)
    assert.deepEqual([rejected.status, errorOf(rejected)['code']], [409, 'upstream_in_use'])
    assert.match(String(errorOf(rejected)['message']), new RegExp(modelName))
    assert.equal((await app.admin.send('DELETE', `/models/${modelName}`)).status, 200)
    assert.equal((await app.admin.send('DELETE', `/upstreams/${name}`)).status, 200)
    assert.equal((await ask(modelName)).status, 404)
    assert.equal((await app.admin.send('GET', `/models/${modelName}`)).status, 404)
  })

  it('charge the price that a request started with, and the new one after a change', async () => {
    const { modelName } = await add({ model: { price: { input: 1, output: 1 } } })
    const costOf = async (): Promise<unknown> => {
      await ask(modelName)
      const [request] = itemsOf(await app.admin.get('/requests?limit=1'))
      return request?.['cost_usd']
    }
    assert.equal(await costOf(), 0.002)
    await app.admin.send('PATCH', `/models/${modelName}`, { body: { price: { output: 3 } } })
    assert.equal(await costOf(), 0.004)
  })

  it('change only what the caller has read', async () => {
    const { modelName, name } = await add()
    for (const path of [`/models/${modelName}`, `/upstreams/${name}`]) {
      const stale = await app.admin.send('PATCH', path, { body: { paused: true }, headers: { 'if-match': '"7"' } })
      assert.deepEqual([stale.status, errorOf(stale)['code']], [409, 'revision_conflict'])
      const changed = await app.admin.send('PATCH', path, { body: { paused: true }, headers: { 'if-match': '"1"' } })
      assert.deepEqual([changed.status, changed.headers.get('etag')], [200, '"2"'])
    }
  })

  it('reject unknown upstreams, missing embeddings, free requests and too long requests', async () => {
    const { name } = await add()
    await app.admin.post('/upstreams', { name: `${name}-slow`, kind: 'echo', timeout_ms: 7_200_000 })
    await app.admin.post('/upstreams', { name: `${name}-claude`, kind: 'anthropic' })
    const rejections: [Json, RegExp][] = [
      [{ targets: [{ upstream: 'nowhere' }] }, /targets\[0\]\.upstream: there is no upstream nowhere/],
      [{ targets: [] }, /targets/],
      [{ targets: [{ upstream: `${name}-claude` }], operations: ['embeddings'] }, /has no embeddings/],
      [{ targets: [{ upstream: name }], free_tier: true }, /free_tier/],
      [{ targets: [{ upstream: `${name}-slow` }] }, /could take 14420000 ms; at most 2700000 ms/],
    ]
    for (const [body, message] of rejections) {
      const rejected = await app.admin.send('POST', '/models', { body: { name: 'rejected', ...body } })
      assert.equal(rejected.status, 422)
      assert.match(String(errorOf(rejected)['message']), message)
    }
  })

  it('test an upstream before it is added, and list its models', async () => {
    server.answer(answerJson({ data: [{ id: 'large' }, { id: 'embed' }] }), answerJson(completion('Hello')))
    const body = { kind: 'openai-chat', base_url: server.url, api_key: secret }
    const tested = await app.admin.send('POST', '/upstreams/test', { body })
    assert.deepEqual(
      [tested.body['success'], tested.body['model'], tested.body['models']],
      [true, 'large', ['large', 'embed']],
    )
    const [event] = await eventsOf('upstream.tested')
    assert.ok(!JSON.stringify(event).includes(secret))
    server.answer(answerJson({ data: [{ id: 'large' }] }))
    const { name } = await add()
    assert.deepEqual((await app.admin.get(`/upstreams/${name}/models`))['models'], ['large'])
    server.answer(answerJson(completion('Hello')))
  })

  describe('of another organization', () => {
    let other: Admin
    before(async () => {
      other = (await app.otherOrganization()).admin
    })

    it('cannot be seen, used, called, changed or deleted', async () => {
      const { name, modelName, model, upstream } = await add()
      assert.ok(!JSON.stringify(await other.get('/models')).includes(modelName))
      assert.ok(!JSON.stringify(await other.get('/upstreams')).includes(name))
      for (const entry of [name, textOf(upstream)]) {
        assert.equal((await other.send('GET', `/upstreams/${entry}`)).status, 404)
        assert.equal((await other.send('GET', `/upstreams/${entry}/models`)).status, 404)
        assert.equal((await other.send('POST', `/upstreams/${entry}/probe`)).status, 404)
        assert.equal((await other.send('PATCH', `/upstreams/${entry}`, { body: { paused: true } })).status, 404)
        assert.equal((await other.send('DELETE', `/upstreams/${entry}`)).status, 404)
      }
      for (const entry of [modelName, textOf(model)]) {
        assert.equal((await other.send('GET', `/models/${entry}`)).status, 404)
        assert.equal((await other.send('PATCH', `/models/${entry}`, { body: { paused: true } })).status, 404)
        assert.equal((await other.send('DELETE', `/models/${entry}`)).status, 404)
      }
      const targets = [{ upstream: name }]
      assert.equal((await other.send('POST', '/models', { body: { name: 'stolen', targets } })).status, 422)
      assert.equal((await ask(modelName)).status, 200, 'its owner can still use it')
    })

    it('can have the same names', async () => {
      const { name, modelName } = await add()
      await other.post('/upstreams', { name, kind: 'echo' })
      await other.post('/models', { name: modelName, targets: [{ upstream: name }] })
      assert.equal((await ask(modelName)).text.includes('"content":"Hello"'), true)
    })
  })
})

describe('what organizations may add', () => {
  const generous = { requests_per_minute: 1_000_000, concurrent_requests: 1_000_000 }
  const upstreams = [{ name: 'shared', kind: 'echo' }]
  const withModels = (models: Json, more: Json = {}) =>
    startAdminApp({
      config: { administration: { credential: generous, organization: generous, models }, upstreams, ...more },
    })
  const own = { name: 'own', targets: [{ upstream: 'shared', model: 'gatehouse-echo' }] }

  it('is nothing where the operator turned it off', async () => {
    await using app = await withModels({ enabled: false })
    const rejected = await app.admin.send('POST', '/upstreams', { body: { name: 'x', kind: 'echo' } })
    assert.deepEqual([rejected.status, errorOf(rejected)['code']], [403, 'permission_denied'])
  })

  it('is only public where the operator says so', async () => {
    await using app = await withModels({ private_addresses: false })
    for (const base_url of ['http://127.0.0.1:1/v1', 'https://10.0.0.1/v1', 'http://1.1.1.1/v1']) {
      const rejected = await app.admin.send('POST', '/upstreams', {
        body: { name: 'x', kind: 'openai-chat', base_url },
      })
      assert.equal(rejected.status, 422, base_url)
    }
    const accepted = { name: 'x', kind: 'openai-chat', base_url: 'https://1.1.1.1:8443/v1' }
    assert.equal((await app.admin.send('POST', '/upstreams', { body: accepted })).status, 201)
  })

  it('uses upstreams of the installation only without credits, unless the operator says otherwise', async () => {
    for (const [setting, isMetered, status] of [
      [undefined, true, 422],
      [undefined, false, 201],
      ['all', true, 201],
      ['none', false, 422],
    ] as const) {
      await using app = await withModels(setting === undefined ? {} : { installation_upstreams: setting })
      if (!isMetered) await app.admin.send('PATCH', '', { body: { metered: false } })
      assert.equal((await app.admin.send('POST', '/models', { body: own })).status, status, `${setting} ${isMetered}`)
    }
  })

  it('stops using them when the organization begins to pay with credits', async () => {
    await using app = await withModels({})
    await app.admin.send('PATCH', '', { body: { metered: false } })
    await app.admin.post('/models', own)
    const ask = async () =>
      (
        await fetch(`${app.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${app.apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'own', messages: [{ role: 'user', content: 'Hi' }] }),
        })
      ).status
    assert.equal(await ask(), 200)
    await app.admin.send('PATCH', '', { body: { metered: true } })
    assert.equal(await ask(), 503)
  })

  it('is at most 50 upstreams', async () => {
    await using app = await withModels({})
    for (let at = 0; at < 50; at++) await app.admin.post('/upstreams', { name: `u${at}`, kind: 'echo' })
    const rejected = await app.admin.send('POST', '/upstreams', { body: { name: 'one-more', kind: 'echo' } })
    assert.deepEqual([rejected.status, errorOf(rejected)['code']], [409, 'model_limit_reached'])
  })

  it('needs the permission models:write', async () => {
    await using app = await withModels({})
    const reader = await app.adminWith(['system:read'])
    assert.equal((await reader.send('POST', '/upstreams', { body: { name: 'x', kind: 'echo' } })).status, 403)
    const writer = await app.adminWith(['models:write'])
    assert.equal((await writer.send('POST', '/upstreams', { body: { name: 'x', kind: 'echo' } })).status, 201)
    const listed = await writer.get('/upstreams')
    assert.deepEqual([listed['node'], itemsOf(listed).map(({ name }) => name)], [null, ['x']])
    assert.equal((await writer.send('POST', '/upstreams/shared/probe')).status, 403)
  })
})
