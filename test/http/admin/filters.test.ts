import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminSuite } from '../../support/admin-suite.ts'
import { errorOf, itemsOf, textOf } from '../../support/administration.ts'

const hello = { model: 'gatehouse-echo', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }

const pricedEcho = {
  upstreams: [{ name: 'echo', kind: 'echo' }],
  models: [{ name: 'gatehouse-echo', targets: [{ upstream: 'echo' }], price: { input: 1, output: 1 } }],
}

describe('the filters of administration lists', () => {
  const { app, admin, send, policy } = adminSuite({ config: pricedEcho })
  const names = async (path: string): Promise<unknown[]> => itemsOf(await admin().get(path)).map(({ name }) => name)

  it('find policies', async () => {
    const projectId = app().projectId
    await policy({ name: 'Ärger melden', mode: 'enforcing' }, ['publish'])
    await policy({ name: 'No leaks', direction: 'response', scope: 'projects', project_ids: [projectId] })
    await policy({ name: 'Loose', scope: 'unattached' }, ['publish'], ['update', { mode: 'enforcing' }])
    assert.deepEqual(await names(`/policies?search=${encodeURIComponent('äRGER')}`), ['Ärger melden'])
    assert.deepEqual(await names('/policies?state=enforcing'), ['Ärger melden'])
    assert.deepEqual(await names('/policies?mode=enforcing'), ['Ärger melden'])
    assert.deepEqual(await names('/policies?scope=unattached'), ['Loose'])
    assert.deepEqual(await names('/policies?direction=response'), ['No leaks'])
    assert.deepEqual(await names(`/policies?project_id=${projectId}`), ['No leaks', 'Ärger melden'])
    assert.deepEqual(await names('/policies?has_unpublished_changes=true'), ['Loose', 'No leaks'])
    assert.deepEqual(await names('/policies?has_unpublished_changes=false&search=l'), ['Ärger melden'])
  })

  it('find projects and keys', async () => {
    const old = textOf(await admin().post('/projects', { name: 'Old chat' }))
    await admin().post('/projects', { name: 'New chat' })
    await send('POST', `/projects/${old}/archive`)
    assert.deepEqual(await names('/projects?search=CHAT'), ['New chat', 'Old chat'])
    assert.deepEqual(await names('/projects?status=archived'), ['Old chat'])
    assert.deepEqual(await names('/projects?status=active&search=chat'), ['New chat'])

    const keys = `/projects/${app().projectId}/api_keys`
    for (const path of [keys, '/admin_api_keys']) {
      const gone = textOf(await admin().post(path, { name: 'Robot gone' }))
      await admin().post(path, { name: 'Robot' })
      await send('DELETE', `${path}/${gone}`)
      assert.deepEqual(await names(`${path}?search=robot`), ['Robot'])
      const [revoked, ...more] = itemsOf(await admin().get(`${path}?status=revoked`))
      assert.deepEqual([revoked?.['name'], typeof revoked?.['revoked_at'], more], ['Robot gone', 'number', []])
      assert.deepEqual(await names(`${path}?status=expired`), [])
    }
  })

  it('find ledger entries, audit events and usage of one request', async () => {
    const response = await app().post('/v1/messages', { ...hello, metadata: { user_id: 'ada' } })
    const requestId = response.headers.get('x-request-id') ?? ''
    await response.text()
    const refs = async (query: string) =>
      itemsOf(await admin().get(`/credits/ledger?${query}`)).map(({ kind, ref }) => [kind, ref])
    assert.deepEqual(await refs(`request_id=${requestId}`), [['usage', requestId]])
    assert.deepEqual(await refs('kind=grant'), [['grant', 'start']])
    assert.deepEqual(await refs(`project_id=${app().projectId}`), [['usage', requestId]])
    assert.deepEqual(await refs('from=0&to=1'), [])
    const [event] = itemsOf(await admin().get(`/audit_logs?request_id=${requestId}`))
    const actor = event?.['actor'] as { id: string }
    const found = itemsOf(await admin().get(`/audit_logs?actor_id=${actor.id}`))
    assert.deepEqual(
      found.map(({ id }) => id),
      [event?.['id']],
    )
    const { data } = await admin().get('/usage?group_by=user')
    const [bucket] = data as { results: { user_id: string; requests: number }[] }[]
    assert.deepEqual(
      bucket?.results.map(({ user_id: userId, requests }) => [userId, requests]),
      [['ada', 1]],
    )
  })

  it('reject values that do not exist', async () => {
    const wrong = [
      '/policies?state=on',
      '/policies?has_unpublished_changes=1',
      '/projects?status=gone',
      '/projects?search=',
    ]
    for (const path of [
      ...wrong,
      '/admin_api_keys?status=old',
      '/credits/ledger?kind=slice',
      '/credits/ledger?from=x',
    ]) {
      const answer = await send('GET', path)
      assert.deepEqual([answer.status, errorOf(answer)['code']], [422, 'invalid_parameter'], path)
    }
  })
})
