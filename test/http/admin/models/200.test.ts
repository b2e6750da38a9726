import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { itemsOf, startAdminApp, textOf, type AdminApp, type Json } from '../../../support/administration.ts'

const secret = 'sk-upstream-secret-of-this-test'

const config = {
  upstreams: [
    { name: 'first', kind: 'openai-chat', base_url: 'http://127.0.0.1:9/v1', api_key: secret },
    { name: 'second', kind: 'anthropic', base_url: 'http://127.0.0.1:9', headers: { 'x-team': secret } },
  ],
  models: [
    {
      name: 'support',
      targets: [{ upstream: 'first', model: 'large' }, { upstream: 'second' }],
      price: { input: 2, output: 8, cache_read: 0.5 },
      context_tokens: 50_000,
      max_output_tokens: 1_000,
    },
    { name: 'claude-*', targets: [{ upstream: 'second' }], free_tier: true },
  ],
}

describe('GET /v1/organization/models', () => {
  let app: AdminApp
  before(async () => {
    app = await startAdminApp({ config })
  })
  after(() => app[Symbol.asyncDispose]())

  const models = async (): Promise<Json[]> => itemsOf(await app.admin.get('/models'))

  it('lists the catalogue with prices, and targets in order', async () => {
    const [support] = await models()
    assert.deepEqual(
      { ...support, may_use: undefined },
      {
        object: 'organization.model',
        name: 'support',
        kind: 'model',
        names: ['support'],
        targets: [
          { upstream: 'first', upstream_kind: 'openai-chat', model: 'large' },
          { upstream: 'second', upstream_kind: 'anthropic', model: 'support' },
        ],
        context_tokens: 50_000,
        max_output_tokens: 1_000,
        caps_output: true,
        price: { input: 2, output: 8, cache_read: 0.5, cache_write: 2 },
        may_use: undefined,
        defined_in: { source: 'file', file: null, key: 'models[0]' },
        id: null,
        paused: false,
        hidden: false,
        revision: null,
        settings: null,
        created_at: null,
        updated_at: null,
      },
    )
  })

  it('calls an entry that ends with * a prefix', async () => {
    const [, claude] = await models()
    assert.deepEqual([claude?.['kind'], claude?.['names'], claude?.['caps_output']], ['prefix', [], false])
  })

  it('counts the active keys that may use a model', async () => {
    const project = textOf(await app.admin.post('/projects', { name: 'Limited' }))
    const create = (fields: Json): Promise<Json> => app.admin.post(`/projects/${project}/api_keys`, fields)
    const countsOf = async (): Promise<unknown[]> => (await models()).map(({ may_use: mayUse }) => mayUse)
    await create({ name: 'Claude only', models: ['claude-sonnet'] })
    const both = textOf(await create({ name: 'Both', models: ['support', 'claude-haiku'] }))
    assert.deepEqual(await countsOf(), [
      { keys_with_all_models: 2, keys_that_list_it: 1, free_requests: false },
      { keys_with_all_models: 2, keys_that_list_it: 2, free_requests: true },
    ])
    await app.admin.send('DELETE', `/projects/${project}/api_keys/${both}`)
    assert.deepEqual(await countsOf(), [
      { keys_with_all_models: 2, keys_that_list_it: 0, free_requests: false },
      { keys_with_all_models: 2, keys_that_list_it: 1, free_requests: true },
    ])
    await app.admin.post(`/projects/${project}/archive`)
    assert.deepEqual((await countsOf())[1], { keys_with_all_models: 2, keys_that_list_it: 0, free_requests: true })
  })

  it('counts only keys of the own organization', async () => {
    const { admin } = await app.otherOrganization()
    const [support] = itemsOf(await admin.get('/models'))
    assert.deepEqual(support?.['may_use'], { keys_with_all_models: 0, keys_that_list_it: 0, free_requests: false })
  })

  it('is readable by an administrator key with any permission', async () => {
    const { send } = await app.adminWith(['policies:read'])
    assert.equal((await send('GET', '/models')).status, 200)
  })

  it('contains no secret and no address of an upstream', async () => {
    const body = JSON.stringify(await app.admin.get('/models'))
    assert.doesNotMatch(body, new RegExp(secret))
    assert.doesNotMatch(body, /127\.0\.0\.1/)
  })
})

describe('GET /v1/organization/models of detected upstreams', () => {
  it('names the variable that defines a model, and the prefix that replaces a detected one', async () => {
    const models = [{ name: 'gpt-*', targets: [{ upstream: 'openai' }], price: { input: 1 } }]
    const env = { OPENAI_API_KEY: secret, OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }
    await using app = await startAdminApp({ config: { models }, env })
    const listed = itemsOf(await app.admin.get('/models'))
    assert.deepEqual(listed.map(({ name, defined_in: definedIn }) => [name, definedIn]).slice(0, 2), [
      ['gpt-*', { source: 'file', file: null, key: 'models[0]' }],
      ['chatgpt-*', { source: 'environment', file: null, key: 'OPENAI_API_KEY' }],
    ])
    assert.equal(listed.filter(({ name }) => name === 'gpt-*').length, 1)
  })

  it('says that the echo model is built in', async () => {
    await using app = await startAdminApp()
    const [echo] = itemsOf(await app.admin.get('/models'))
    assert.deepEqual(
      [echo?.['name'], echo?.['defined_in']],
      ['gatehouse-echo', { source: 'built_in', file: null, key: null }],
    )
  })
})
