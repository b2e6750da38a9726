import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminOf, itemsOf, startAdminApp } from '../../../support/administration.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const chat = (model: string) => ({ model, messages: [{ role: 'user', content: 'Hi' }] })

describe('entries of an organization after a restart', () => {
  it('are hidden by entries of the file with the same name, which serve the requests', async () => {
    await using folder = await temporaryFolder()
    const storage = { data_dir: folder.path }
    let keys: { adminKey: string; apiKey: string }
    {
      await using app = await startAdminApp({ config: { storage } })
      keys = app
      await app.admin.post('/upstreams', { name: 'same', kind: 'anthropic', base_url: 'http://127.0.0.1:9' })
      await app.admin.post('/upstreams', { name: 'other', kind: 'echo' })
      await app.admin.post('/models', { name: 'shared', targets: [{ upstream: 'same' }] })
      await app.admin.post('/models', { name: 'kept', targets: [{ upstream: 'other' }] })
    }
    const upstreams = [{ name: 'same', kind: 'echo' }]
    const models = [{ name: 'shared', targets: [{ upstream: 'same' }] }]
    await using app = await startAdminApp({ config: { storage, upstreams, models }, isFirst: false })
    const admin = adminOf(app.url, keys.adminKey)
    const authorization = `Bearer ${keys.apiKey}`
    for (const model of ['shared', 'kept'])
      assert.equal((await app.post('/v1/chat/completions', chat(model), { authorization })).status, 200, model)
    const shown = itemsOf(await admin.get('/models')).map(({ name, hidden, id }) => [name, hidden, id === null])
    assert.deepEqual(shown, [
      ['shared', false, true],
      ['shared', true, false],
      ['kept', false, false],
    ])
    const hidden = itemsOf(await admin.get('/upstreams')).filter((upstream) => upstream['hidden'])
    assert.deepEqual(
      hidden.map(({ name }) => name),
      ['same'],
    )
  })

  it('share one value of the labels of metrics', async () => {
    await using app = await startAdminApp()
    await app.admin.post('/upstreams', { name: 'secretly-named', kind: 'echo' })
    await app.admin.post('/models', { name: 'secretly-named-model', targets: [{ upstream: 'secretly-named' }] })
    assert.equal((await app.post('/v1/chat/completions', chat('secretly-named-model'))).status, 200)
    const metrics = await (await app.get('/metrics')).text()
    assert.match(metrics, /gatehouse_requests_total\{dialect="chat",model="\(organization\)",outcome="answered"\} 1/)
    assert.match(metrics, /gatehouse_upstream_calls_total\{upstream="\(organization\)",outcome="answered"\} 1/)
    assert.doesNotMatch(metrics, /secretly-named/)
  })
})
