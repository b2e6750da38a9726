import assert from 'node:assert/strict'
import { createServer, type AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { startExportScene, type ExportScene } from '../../../support/export-scene.ts'
import { errorOf, textOf, type Answer, type Json } from '../../../support/administration.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

/** Notations of this machine's address and of others that tenants must not reach; `PORT` is a port that is open. */
const notations = [
  'https://127.0.0.1:PORT',
  'https://localhost:PORT',
  'https://2130706433:PORT',
  'https://0x7f.1:PORT',
  'https://0177.0.0.1:PORT',
  'https://127.1:PORT',
  'https://[::1]:PORT',
  'https://[::ffff:127.0.0.1]:PORT',
  'https://[64:ff9b::7f00:1]:PORT',
  'https://169.254.169.254',
  'https://10.0.0.1',
  'http://127.0.0.1:PORT',
  'https://0.0.0.0:PORT',
]

const secret = 'a-secret-of-the-webhook-0123'
const auth = { type: 'basic', username: 'u', password: 'a-password-that-is-long' }
const accessKey = { type: 'access_key', access_key_id: 'A', secret_access_key: 's' }
const cloudId = `name:${Buffer.from('0.0.1$127$kibana').toString('base64')}`
const idOf = ({ status, body }: Answer): string => {
  assert.equal(status, 201, JSON.stringify(body))
  return textOf(body['export'] as Json)
}

describe('a sink with an address that a tenant must not reach', () => {
  const closed = { config: { exports: { allow_addresses: [] } } }
  const create = (scene: ExportScene, type: string, config: Json) =>
    scene.gateway('POST', '/exports', { body: { type, enabled: false, config } })
  const assertRejected = (answer: Answer, param: string, message: RegExp): void => {
    assert.equal(answer.status, 422, JSON.stringify(answer.body))
    const error = errorOf(answer)
    assert.deepEqual([error['code'], error['param']], ['invalid_parameter', param])
    assert.match(String(error['message']), message)
  }

  it('is rejected when it is created, naming the field, the reason and what to do', async () => {
    await using scene = await startExportScene(closed)
    const notPublic = /does not lead to a public address\. .*exports\.allow_addresses/
    const cases: [type: string, config: Json, param: string, message: RegExp][] = [
      ['webhook', { url: 'http://logs.example.com', secret }, 'config.url', /must begin with https:.*allow_addresses/],
      [
        'webhook',
        { url: 'https://logs.example.com:22', secret },
        'config.url',
        /must have port 443, .*allow_addresses/,
      ],
      ['webhook', { url: 'https://localhost', secret }, 'config.url', notPublic],
      ['webhook', { url: 'https://192.168.1.1/in', secret }, 'config.url', notPublic],
      ['splunk_hec', { url: 'https://127.0.0.1:8088', token: 't' }, 'config.url', notPublic],
      ['elastic', { url: 'https://[fd00::1]:9200', auth }, 'config.url', notPublic],
      ['elastic', { cloud_id: cloudId, auth }, 'config.cloud_id', notPublic],
      [
        's3',
        { bucket: 'audit', region: 'x', endpoint: 'https://10.0.0.1', auth: accessKey },
        'config.endpoint',
        notPublic,
      ],
      ['otlp_logs', { url: 'https://169.254.169.254/v1/logs' }, 'config.url', notPublic],
    ]
    for (const [type, config, param, message] of cases) {
      const answer = await create(scene, type, config)
      assertRejected(answer, param, message)
      assert.doesNotMatch(String(errorOf(answer)['message']), /127\.0|::1/) // also not the address of a name
    }
    assert.equal((await scene.gateway('GET', '/exports')).body['data']?.toString(), '')
  })

  it('is accepted if the operator allows its network, or if its name does not resolve yet', async () => {
    await using open = await startExportScene()
    for (const url of ['http://127.0.0.1:9', 'http://localhost:9', 'http://nobody.invalid:9']) {
      idOf(await create(open, 'webhook', { url, secret }))
    }
    await using scene = await startExportScene(closed)
    idOf(await create(scene, 'webhook', { url: 'https://nobody.invalid', secret }))
  })

  it('is rejected when its address is changed to one', async () => {
    await using scene = await startExportScene(closed)
    const id = idOf(await create(scene, 'webhook', { url: 'https://nobody.invalid', secret }))
    const change = (config: Json) => scene.gateway('PATCH', `/exports/${id}`, { body: { config } })
    for (const url of ['http://nobody.invalid', 'https://localhost', 'https://10.0.0.1']) {
      assertRejected(await change({ url, secret }), 'config.url', /exports\.allow_addresses/)
    }
    assert.equal(((await scene.sink(id))['config'] as Json)['url'], 'https://nobody.invalid')
    assert.equal((await change({ url: 'https://other.invalid', secret })).status, 200)
  })

  it('can still be changed and deleted if it was created while its network was allowed', async () => {
    await using folder = await temporaryFolder()
    const storage = { data_dir: folder.path }
    const config = { url: 'http://127.0.0.1:9/in', secret }
    const creation = { body: { type: 'webhook', config }, headers: { 'idempotency-key': 'once' } }
    const kept = { id: '', key: '' }
    {
      await using open = await startExportScene({ config: { storage, exports: { allow_addresses: ['127.0.0.0/8'] } } })
      Object.assign(kept, { id: idOf(await open.gateway('POST', '/exports', creation)), key: open.apiKey })
    }
    await using scene = await startExportScene({
      isFirst: false,
      config: { storage, exports: { allow_addresses: [] } },
    })
    const { key } = kept
    const retried = await scene.gateway('POST', '/exports', { ...creation, key })
    assert.deepEqual([idOf(retried), retried.headers.get('idempotent-replayed')], [kept.id, 'true'])
    const send = (method: string, body?: Json) =>
      scene.gateway(method, `/exports/${kept.id}`, { key, ...(body && { body }) })
    assert.equal((await send('PATCH', { label: 'New', config: { ...config, content: 'none' } })).status, 200)
    assertRejected(await send('PATCH', { config: { ...config, url: 'http://127.0.0.1:10' } }), 'config.url', /public/)
    assert.equal((await send('DELETE')).status, 200)
  })

  it('is not connected to at delivery, and gives the same message as an unreachable one', async (t) => {
    let dialled = 0
    const canary = createServer((socket) => {
      dialled += 1
      socket.destroy()
    })
    await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
    t.after(() => canary.close())
    const { port } = canary.address() as AddressInfo
    await using folder = await temporaryFolder()
    const storage = { data_dir: folder.path }
    const sinks: { key: string; id: string; notation: string }[] = []
    {
      const everything = { allow_addresses: ['0.0.0.0/0', '::/0'] }
      await using open = await startExportScene({ config: { storage, exports: everything } })
      for (const notation of [...notations, 'https://nobody.invalid']) {
        const { key } = (await open.otherOrganization()).admin // tests are limited per minute
        const config = { url: notation.replace('PORT', String(port)), secret }
        const body = { type: 'webhook', enabled: false, config }
        sinks.push({ key, notation, id: idOf(await open.gateway('POST', '/exports', { key, body })) })
      }
    }
    await using scene = await startExportScene({
      isFirst: false,
      config: { storage, exports: { allow_addresses: [] } },
    })
    const messages = new Set<string>()
    for (const { key, id, notation } of sinks) {
      const { status, body } = await scene.gateway('POST', `/exports/${id}/test`, { key })
      const { success, message } = body['test'] as Json
      assert.deepEqual([status, success], [200, false], notation)
      messages.add(String(message))
    }
    assert.deepEqual([...messages], ['The destination could not be reached.'])
    assert.equal(dialled, 0)
  })
})
