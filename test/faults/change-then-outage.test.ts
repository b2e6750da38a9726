import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestApp } from '../support/app.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { operatorOf } from '../support/operator.ts'

const body = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

/** A node whose database can be disconnected. */
async function startScene() {
  const opened = new AsyncDisposableStack()
  const url = new URL(opened.use(await createScratchDatabase()).url)
  const proxy = opened.use(await startTcpProxy({ host: url.hostname, port: Number(url.port) }))
  url.port = String(proxy.port)
  const config = { secret: 'a secret of sixteen and more' }
  const node = opened.use(await startTestApp({ config, storage: { database_url: url.href } }))
  const send = async (): Promise<number> => (await node.post('/v1/messages', body)).status
  const admin = (method: string, path: string, change?: object): Promise<Response> =>
    fetch(node.url + path, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${node.adminKey}` },
      ...(change && { body: JSON.stringify(change) }),
    })
  assert.equal(await send(), 200)
  return { node, proxy, send, admin, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

describe('a change right before an outage of PostgreSQL', { skip: withoutPostgres }, () => {
  it('does not evict the credentials of its node', async () => {
    await using scene = await startScene()
    assert.equal((await scene.admin('POST', '/v1/organization/projects', { name: 'Another' })).status, 201)
    scene.proxy.shut()
    for (let count = 0; count < 5; count++) assert.equal(await scene.send(), 200)
    const answer = await scene.node.get('/v1/models')
    assert.equal(answer.status, 200)
  })

  it('is enforced without the database if it revoked the key', async () => {
    await using scene = await startScene()
    const operator = operatorOf(scene.node.app)
    const { api_keys: keys } = await operator.listKeys()
    await operator.revokeKey(keys[0]?.id ?? '')
    scene.proxy.shut()
    assert.equal(await scene.send(), 401)
  })

  it('is enforced without the database if it archived the project of the key', async () => {
    await using scene = await startScene()
    const archived = await scene.admin('POST', `/v1/organization/projects/${scene.node.projectId}/archive`)
    assert.equal(archived.status, 200, await archived.text())
    scene.proxy.shut()
    assert.equal(await scene.send(), 401)
  })
})
