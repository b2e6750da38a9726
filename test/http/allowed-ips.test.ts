import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  adminOf,
  errorOf,
  itemsOf,
  startAdminApp,
  textOf,
  type AdminApp,
  type Admin,
} from '../support/administration.ts'

const message = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
const office = '203.0.113.9'
const elsewhere = '198.51.100.1'
const allowed = ['203.0.113.0/24', '2001:db8::/32']

describe('a key with a list of allowed addresses', () => {
  let scene: AdminApp
  let apiKey = ''
  let adminKey: Admin
  before(async () => {
    scene = await startAdminApp({ config: { server: { trust_proxy: true } } })
    const permissions = ['gateway:read', 'exports:read']
    const body = { name: 'Office', permissions, allowed_ips: ['203.0.113.7/24', '2001:db8::1/32'] }
    const made = await scene.admin.post(keysPath(), body)
    assert.deepEqual(made['allowed_ips'], allowed)
    apiKey = textOf(made, 'value')
    const admin = await scene.admin.post('/admin_api_keys', { name: 'Office', allowed_ips: allowed })
    assert.deepEqual(admin['allowed_ips'], allowed)
    adminKey = adminOf(scene.url, textOf(admin, 'value'))
  })
  after(() => scene[Symbol.asyncDispose]())

  const keysPath = () => `/projects/${scene.projectId}/api_keys`
  const from = (address: string, key = apiKey) => ({ authorization: `Bearer ${key}`, 'x-forwarded-for': address })
  const statusFrom = async (address: string): Promise<number> =>
    (await scene.post('/v1/messages', message, from(address))).status

  it('works from those addresses only, in any notation, cached or not', async () => {
    for (const address of [elsewhere, office, elsewhere, `::ffff:${office}`, '2001:db8:1::1', '2001:db9::1', office]) {
      const isIn = !['198', '2001:db9'].some((start) => address.startsWith(start))
      assert.equal(await statusFrom(address), isIn ? 200 : 403, address)
    }
  })

  it('is checked against the address that the proxy appended, not one that the caller wrote before it', async () => {
    assert.equal(await statusFrom(`${office}, ${elsewhere}`), 403)
    assert.equal(await statusFrom(`${elsewhere}, ${office}`), 200)
  })

  for (const [method, path] of [
    ['POST', '/v1/messages'],
    ['POST', '/v1/messages/count_tokens'],
    ['POST', '/v1/chat/completions'],
    ['POST', '/v1/responses'],
    ['GET', '/v1/responses/resp_1'],
    ['POST', '/v1/moderations'],
    ['GET', '/v1/models'],
    ['GET', '/v1/credits'],
    ['GET', '/api/policy-gateway/config'],
    ['GET', '/api/policy-gateway/exports'],
  ] as const) {
    it(`is rejected from other addresses at ${method} ${path}, with the reason`, async () => {
      const rejected = await (method === 'GET'
        ? scene.get(path, from(elsewhere))
        : scene.post(path, message, from(elsewhere)))
      const text = await rejected.text()
      assert.equal(rejected.status, 403)
      assert.match(text, /permission_error|ip_not_allowed/)
      assert.match(text, /198\.51\.100\.1/)
    })
  }

  it('is rejected from other addresses by the administration API, with the code ip_not_allowed', async () => {
    const send = (address: string) => adminKey.send('GET', '/policies', { headers: { 'x-forwarded-for': address } })
    assert.equal((await send(office)).status, 200)
    const rejected = await send(elsewhere)
    assert.deepEqual([rejected.status, errorOf(rejected)['code']], [403, 'ip_not_allowed'])
    const gateway = await scene.get('/api/policy-gateway/config', from(elsewhere, adminKey.key))
    assert.equal(gateway.status, 403)
  })

  it('does not count as used by a request that was rejected', async () => {
    const made = await scene.admin.post(keysPath(), { name: 'Unused', allowed_ips: [office] })
    const rejected = await scene.post('/v1/messages', message, from(elsewhere, textOf(made, 'value')))
    assert.equal(rejected.status, 403)
    const shown = itemsOf(await scene.admin.get(keysPath())).find(({ id }) => id === made['id'])
    assert.deepEqual([shown?.['allowed_ips'], shown?.['last_used_at']], [[`${office}/32`], undefined])
  })

  it('is counted once for each request, and audited once a minute', async () => {
    const made = await scene.admin.post(keysPath(), { name: 'Stolen', allowed_ips: [office] })
    const counted = async (): Promise<number> => {
      const exposed = await (await scene.get('/metrics', {})).text()
      return Number(/gatehouse_ip_denials_total\{credential="api_key"\} (\d+)/.exec(exposed)?.[1] ?? 0)
    }
    const countedBefore = await counted()
    for (let count = 0; count < 3; count++) {
      await scene.post('/v1/messages', message, from(elsewhere, textOf(made, 'value')))
    }
    assert.equal(await counted(), countedBefore + 3)
    const entries = async () =>
      itemsOf(await scene.admin.get('/audit_logs?kind=api_key.denied')).filter((entry) =>
        JSON.stringify(entry).includes(textOf(made)),
      )
    // The event is written concurrently with the request, so these changes of the organization follow it in the chain.
    for (let count = 0; count < 100 && (await entries()).length === 0; count++) {
      await scene.admin.post('/projects', { name: 'Later' })
    }
    const [entry, ...others] = await entries()
    assert.deepEqual(others, [])
    assert.match(JSON.stringify(entry), /198\.51\.100\.1/)
  })

  for (const [list, param] of [
    [[], 'allowed_ips'],
    [['10.0.0.0/8', '10.0.0.0/33'], 'allowed_ips[1]'],
    [['localhost'], 'allowed_ips[0]'],
    [[7], 'allowed_ips[0]'],
    ['10.0.0.0/8', 'allowed_ips'],
    [Array.from({ length: 101 }, (_, at) => `10.0.0.${at}`), 'allowed_ips'],
  ] as const) {
    it(`names ${param} in ${JSON.stringify(list).slice(0, 40)}`, async () => {
      for (const path of [keysPath(), '/admin_api_keys']) {
        const answer = await scene.admin.send('POST', path, { body: { name: 'Wrong', allowed_ips: list } })
        assert.deepEqual([answer.status, errorOf(answer)['param']], [422, param])
      }
    })
  }

  it('creates only keys whose list is within its own list, which is also the default', async () => {
    const create = (path: string, more: object) =>
      adminKey.send('POST', path, { body: { name: 'New', ...more }, headers: { 'x-forwarded-for': office } })
    for (const path of [keysPath(), '/admin_api_keys']) {
      assert.deepEqual((await create(path, {})).body['allowed_ips'], allowed)
      assert.deepEqual((await create(path, { allowed_ips: [office] })).body['allowed_ips'], [`${office}/32`])
      for (const wider of [null, ['203.0.112.0/23'], [office, elsewhere]]) {
        const rejected = await create(path, { allowed_ips: wider })
        assert.deepEqual(
          [rejected.status, errorOf(rejected)['code'], errorOf(rejected)['param']],
          [403, 'permission_denied', 'allowed_ips'],
        )
      }
    }
  })

  it('does not affect other keys: keys without a list work from every address, and show null', async () => {
    const made = await scene.admin.post(keysPath(), { name: 'Anywhere', allowed_ips: null })
    assert.equal(made['allowed_ips'], null)
    assert.equal((await scene.post('/v1/messages', message, from(elsewhere, textOf(made, 'value')))).status, 200)
  })
})

it('without trust_proxy the address of the connection counts, and X-Forwarded-For is ignored', async () => {
  await using scene = await startAdminApp()
  const create = async (allowed_ips: string[]) =>
    textOf(await scene.admin.post(`/projects/${scene.projectId}/api_keys`, { name: 'Local', allowed_ips }), 'value')
  const statusOf = async (key: string) =>
    (await scene.post('/v1/messages', message, { authorization: `Bearer ${key}`, 'x-forwarded-for': office })).status
  assert.equal(await statusOf(await create([office])), 403)
  assert.equal(await statusOf(await create(['127.0.0.0/8'])), 200)
})
