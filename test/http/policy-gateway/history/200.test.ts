import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { itemsOf, textOf } from '../../../support/administration.ts'
import { gatewaySuite } from '../../../support/gateway-suite.ts'

const messages = [{ role: 'user', content: 'hi' }]

describe('the history of the gateway', () => {
  const { scene, send } = gatewaySuite()
  const infer = async (body: object, key = scene().apiKey): Promise<string> => {
    const requestBody = { model: 'gatehouse-echo', max_tokens: 10, messages, ...body }
    const response = await scene().post('/v1/messages', requestBody, { authorization: `Bearer ${key}` })
    await response.text()
    return response.headers.get('x-request-id') ?? ''
  }

  it('lists each answered request with caller, decision and usage', async () => {
    for (const stream of [false, true]) {
      const requestId = await infer({ stream, metadata: { user_id: 'ada' } })
      const [entry, ...more] = itemsOf((await send('GET', `/history?request_id=${requestId}`)).body)
      assert.deepEqual(more, [])
      assert.ok(Number(entry?.['input_tokens']) > 0 && Number(entry?.['output_tokens']) > 0)
      assert.deepEqual(
        [
          entry?.['kind'],
          entry?.['user_id'],
          entry?.['model'],
          entry?.['decision'],
          entry?.['project_id'],
          entry?.['error'],
        ],
        ['gateway.request.decided', 'ada', 'gatehouse-echo', 'allow', scene().projectId, null],
      )
    }
  })

  it('lists failed requests as well', async () => {
    const requestId = await infer({ model: 'no-such-model' })
    const [entry] = itemsOf((await send('GET', `/history?request_id=${requestId}`)).body)
    assert.deepEqual([entry?.['error'], entry?.['output_tokens']], ['model_not_found', null])
  })

  it('shows a project’s key only its own project, and an administrator all projects', async () => {
    const { admin } = scene()
    const project = textOf(await admin.post('/projects', { name: 'Second' }))
    const key = textOf(
      await admin.post(`/projects/${project}/api_keys`, { name: 'Second', permissions: ['gateway:read'] }),
      'value',
    )
    const [ownRequest, otherRequest] = [await infer({}), await infer({}, key)]
    const seenBy = async (who: string, id: string) =>
      itemsOf((await send('GET', `/history?request_id=${id}`, { key: who })).body).length
    assert.deepEqual([await seenBy(key, otherRequest), await seenBy(key, ownRequest)], [1, 0])
    assert.deepEqual([await seenBy(admin.key, otherRequest), await seenBy(admin.key, ownRequest)], [1, 1])
  })

  it('can be filtered by time, kind and project', async () => {
    const requestId = await infer({})
    const count = async (query: string) =>
      itemsOf((await send('GET', `/history?request_id=${requestId}&${query}`)).body).length
    const soon = new Date(Date.now() + 60_000).toISOString()
    assert.equal(await count(`from=2020-01-01T00:00:00Z&to=${soon}`), 1)
    assert.equal(await count(`from=${soon}`), 0)
    assert.equal(await count('kind=gateway.request.decided'), 1)
    assert.equal(await count('kind=gateway.simulation.run'), 0)
    assert.equal(await count(`project_id=${scene().projectId}`), 1)
    assert.equal((await send('GET', '/history?project_id=proj_other', { key: scene().apiKey })).status, 403)
    assert.equal((await send('GET', '/history?from=yesterday')).status, 422)
  })

  it('contains no text of a prompt or an answer', async () => {
    await infer({ messages: [{ role: 'user', content: 'a-planted-secret-text' }] })
    const events = await scene().admin.get('/audit_logs?limit=100')
    assert.ok(!JSON.stringify(events).includes('a-planted-secret-text'))
  })
})
