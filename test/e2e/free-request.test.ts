import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestApp } from '../support/app.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const body = { model: 'gatehouse-echo', max_tokens: 4000, messages: [{ role: 'user', content: 'word '.repeat(2000) }] }
const free = { 'x-free-tier': 'true' }

describe('the anonymous free request', () => {
  it('is answered once, with a short answer, and then rejected with 401', async () => {
    await using scene = await startTestApp()
    const first = await scene.post('/v1/messages', body, free)
    assert.equal(first.status, 200)
    const { usage, remaining_credits: remaining } = (await first.json()) as {
      usage: { output_tokens: number }
      remaining_credits: unknown
    }
    assert.ok(usage.output_tokens <= 256)
    assert.equal(remaining, null)
    const second = await scene.post('/v1/messages', body, free)
    assert.equal(second.status, 401)
    assert.equal(((await second.json()) as { error: { type: string } }).error.type, 'authentication_error')
  })
  it('is granted to exactly one of many parallel requests', async () => {
    await using scene = await startTestApp()
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => (await scene.post('/v1/messages', body, free)).status),
    )
    assert.equal(statuses.filter((status) => status === 200).length, 1)
    assert.equal(statuses.filter((status) => status === 401).length, 19)
  })
  it('is not used up by a rejected body, or by a model that is not free', async () => {
    await using scene = await startTestApp()
    assert.equal((await scene.post('/v1/messages', { model: 'gatehouse-echo' }, free)).status, 400)
    assert.equal((await scene.post('/v1/messages', { ...body, model: 'unknown' }, free)).status, 404)
    assert.equal((await scene.post('/v1/messages', body, free)).status, 200)
  })
  it('names the model that is free if it is sent for another one', async () => {
    const targets = [{ upstream: 'echo' }]
    const upstreams = [{ name: 'echo', kind: 'echo' }]
    const models = [
      { name: 'paid', targets },
      { name: 'gift', targets, free_tier: true },
    ]
    await using scene = await startTestApp({ config: { upstreams, models } })
    const messageOf = async (model: string): Promise<[number, string]> => {
      const answer = await scene.post('/v1/messages', { ...body, model }, free)
      return [answer.status, ((await answer.json()) as { error: { message: string } }).error.message]
    }
    const advice = 'The free request may use gift; for any other model, send an API key.'
    assert.deepEqual(await messageOf('paid'), [403, `The model paid is not free. ${advice}`])
    assert.deepEqual(await messageOf('nope'), [404, `There is no model nope. ${advice}`])
  })
  it('says that no model is free where none is', async () => {
    const upstreams = [{ name: 'echo', kind: 'echo' }]
    await using scene = await startTestApp({
      config: { upstreams, models: [{ name: 'paid', targets: [{ upstream: 'echo' }] }] },
    })
    const answer = await scene.post('/v1/messages', { ...body, model: 'paid' }, free)
    assert.match(await answer.text(), /The model paid is not free. No model is free here: send an API key./)
  })
  it('needs the header value true', async () => {
    await using scene = await startTestApp()
    assert.equal((await scene.post('/v1/messages', body, { 'x-free-tier': 'yes' })).status, 400)
    assert.equal((await scene.post('/v1/messages', body, {})).status, 401)
  })
  it('stops at the daily limit', async () => {
    await using scene = await startTestApp({ config: { free_tier: { daily_requests: 0 } } })
    assert.equal((await scene.post('/v1/messages', body, free)).status, 401)
  })
  it('is used up for its client, and not for others, if it is blocked', async () => {
    await using scene = await startTestApp({
      config: { server: { trust_proxy: true }, free_tier: { daily_requests: 2 } },
    })
    const blocked = { ...body, messages: [{ role: 'user', content: 'I want to kill myself tonight.' }] }
    const send = async (address: string, content: object): Promise<number> =>
      (await scene.post('/v1/messages', content, { ...free, 'x-forwarded-for': address })).status
    assert.equal(await send('198.51.100.1', blocked), 400)
    for (let count = 0; count < 5; count++) assert.equal(await send('198.51.100.1', blocked), 401)
    for (let client = 2; client < 6; client++) assert.equal(await send(`198.51.100.${client}`, blocked), 400)
    assert.equal(await send('198.51.100.10', body), 200)
    assert.equal(await send('198.51.100.11', body), 200)
    assert.equal(await send('198.51.100.12', body), 401)
  })
  it('is one for each address that the proxy appends, whatever the client writes before it', async () => {
    await using scene = await startTestApp({ config: { server: { trust_proxy: true } } })
    assert.equal(await statusFor(scene, '198.51.100.1'), 200)
    assert.equal(await statusFor(scene, '203.0.113.9, 198.51.100.1'), 401)
    assert.equal(await statusFor(scene, '198.51.100.1, 198.51.100.2'), 200)
  })
  it('is one for each address behind several proxies', async () => {
    await using scene = await startTestApp({ config: { server: { trust_proxy: true, proxy_hops: 2 } } })
    assert.equal(await statusFor(scene, '198.51.100.1, 192.0.2.1'), 200)
    assert.equal(await statusFor(scene, '198.51.100.2, 192.0.2.1'), 200)
    assert.equal(await statusFor(scene, '203.0.113.9, 198.51.100.2, 192.0.2.1'), 401)
  })
  it('is still available after it was requested while it was turned off', async () => {
    await using folder = await temporaryFolder()
    const storage = { data_dir: folder.path }
    {
      await using closed = await startTestApp({ storage, config: { free_tier: { daily_requests: 0 } } })
      assert.equal((await closed.post('/v1/messages', body, free)).status, 401)
    }
    await using scene = await startTestApp({ storage, isFirst: false })
    assert.equal((await scene.post('/v1/messages', body, free)).status, 200)
  })
})

/** The status of a free request through proxies that appended these addresses. */
async function statusFor(scene: Awaited<ReturnType<typeof startTestApp>>, addresses: string): Promise<number> {
  return (await scene.post('/v1/messages', body, { ...free, 'x-forwarded-for': addresses })).status
}
