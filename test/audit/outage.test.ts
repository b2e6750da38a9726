import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { operatorOf } from '../support/operator.ts'

const body = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
const secret = 'a secret of sixteen and more'

const figure = async (app: TestApp, name: string): Promise<number> =>
  Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await (await app.get('/metrics')).text())?.[1] ?? 0)

/** A database that can be cut off, and an app on it that has the caller's key in its cache. */
async function startScene(audit: object) {
  const opened = new AsyncDisposableStack()
  const database = opened.use(await createScratchDatabase())
  const url = new URL(database.url)
  const proxy = opened.use(await startTcpProxy({ host: url.hostname, port: Number(url.port) }))
  url.port = String(proxy.port)
  const folder = opened.use(await temporaryFolder())
  const storage = { database_url: url.href, data_dir: folder.path }
  const first = opened.use(await startTestApp({ config: { secret, audit }, storage }))
  const known = { authorization: `Bearer ${first.apiKey}` }
  const send = (stream: boolean): Promise<Response> => first.post('/v1/messages', { ...body, stream }, known)
  // By then the node has seen its own setup among the changes, and does not read the key again.
  for (let count = 0; count < 30; count++) await (await send(false)).arrayBuffer()
  return { first, proxy, storage, send, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

/** The events in the log, without those that carry a checkpoint, which is signed at any time. Fails if the log is not whole. */
async function logOf({ app }: TestApp, organization: string): Promise<number> {
  const report = await operatorOf(app, organization).verifyAuditLog()
  assert.equal(report.finding, undefined)
  return report.checked - report.checkpoints
}

describe('requests while the audit log cannot be written', { skip: withoutPostgres }, () => {
  it('are rejected, streamed or not, if audit is required', async () => {
    await using scene = await startScene({ on_failure: 'refuse' })
    scene.proxy.shut()
    const rejected = await scene.send(false)
    assert.equal(rejected.status, 503)
    assert.ok(Number(rejected.headers.get('retry-after')) > 0)
    const streamed = await (await scene.send(true)).text()
    assert.match(streamed, /"type":"error"/)
    assert.doesNotMatch(streamed, /message_stop/)
    const ready = await scene.first.get('/health/ready')
    assert.equal(ready.status, 503)
    assert.match(await ready.text(), /"failing":\[\{"part":"storage"/)
    assert.equal(await figure(scene.first, 'gatehouse_audit_events_lost_total'), 2)
  })

  it('are rejected if the organization’s gateway configuration requires audit logs', async () => {
    await using scene = await startScene({})
    const { url, apiKey } = scene.first
    const saved = await fetch(`${url}/api/policy-gateway/config`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ org_controls: { audit_logs: true } }),
    })
    assert.equal(saved.status, 200)
    for (let count = 0; count < 30; count++) await (await scene.send(false)).arrayBuffer()
    scene.proxy.shut()
    assert.equal((await scene.send(false)).status, 503)
  })

  it('are answered if audit is not required, and their events wait on this node’s disk', async () => {
    await using scene = await startScene({})
    const { first } = scene
    const before = await logOf(first, first.organizationId)
    scene.proxy.shut()
    assert.equal((await scene.send(false)).status, 200)
    assert.match(await (await scene.send(true)).text(), /message_stop/)
    assert.equal(await figure(first, 'gatehouse_audit_events_waiting'), 2)
    assert.equal(await figure(first, 'gatehouse_audit_events_lost_total'), 0)
    scene.proxy.open()
    while ((await figure(first, 'gatehouse_audit_events_waiting')) > 0) await new Promise((r) => setTimeout(r, 20))
    assert.equal(await logOf(first, first.organizationId), before + 2)
  })

  it('are in the log at the end, even if their node was killed meanwhile', async () => {
    await using scene = await startScene({})
    const { first, storage } = scene
    const before = await logOf(first, first.organizationId)
    scene.proxy.shut()
    assert.equal((await scene.send(false)).status, 200)
    await first.app[Symbol.asyncDispose]()
    scene.proxy.open()
    await using second = await startTestApp({ config: { secret }, storage, isFirst: false })
    while ((await figure(second, 'gatehouse_audit_events_waiting')) > 0) await new Promise((r) => setTimeout(r, 20))
    assert.equal(await logOf(second, first.organizationId), before + 1)
  })
})
