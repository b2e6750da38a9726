import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminSuite } from '../../../support/admin-suite.ts'
import { itemsOf, textOf, type Json } from '../../../support/administration.ts'
import { answerWith, startPaidApp, question } from '../../../support/paid-app.ts'
import {
  inferenceEndpoints,
  type InferenceEndpoint,
  type InferenceEndpointName,
} from '../../../support/inference-endpoints.ts'
import { openBrowser } from '../../../support/console.ts'

const path = '/v1/organization/playground'
const dialects = Object.keys(inferenceEndpoints) as readonly InferenceEndpointName[]

describe('a request of the playground', () => {
  const { app, admin } = adminSuite()

  const send = (dialect: InferenceEndpointName, body: object, headers: Readonly<Record<string, string>> = {}) =>
    app().post(
      path,
      { project_id: app().projectId, dialect, body },
      { authorization: `Bearer ${app().adminKey}`, ...headers },
    )

  for (const dialect of dialects) {
    const { path: endpoint, bodyOf }: InferenceEndpoint = inferenceEndpoints[dialect]

    it(`gets the answer and the headers of ${endpoint}`, async () => {
      const tried = await send(dialect, bodyOf('Hello'))
      const called = await app().post(endpoint, bodyOf('Hello'))
      assert.equal(tried.status, 200)
      assert.deepEqual([...tried.headers.keys()].toSorted(), [...called.headers.keys()].toSorted())
      assert.deepEqual(shapeOf(await tried.json()), shapeOf(await called.json()))
    })

    it(`gets the stream of ${endpoint}`, async () => {
      const tried = await send(dialect, bodyOf('Hello', { stream: true }))
      const called = await app().post(endpoint, bodyOf('Hello', { stream: true }))
      assert.equal(tried.headers.get('content-type'), 'text/event-stream; charset=utf-8')
      assert.deepEqual(eventsIn(await tried.text()), eventsIn(await called.text()))
    })

    it(`is in the log with the administrator, the project and the dialect ${dialect}`, async () => {
      const answer = await send(dialect, bodyOf('Hello'))
      await answer.text()
      const request = await admin().get(`/requests/${answer.headers.get('x-request-id')}`)
      const [key] = itemsOf(await admin().get('/admin_api_keys'))
      assert.deepEqual(
        [request['actor_type'], request['api_key_id'], request['project_id'], request['dialect'], request['status']],
        ['admin_key', key?.['id'], app().projectId, dialect, 'ok'],
      )
    })

    it(`is denied in the format of ${endpoint}`, async () => {
      const policy = await admin().post('/policies', {
        name: `Falcon ${dialect}`,
        rule: `Say "falcon ${dialect}"`,
        mode: 'enforcing',
      })
      await admin().post(`/policies/${textOf(policy)}/publish`, { revision: 1 })
      const tried = await send(dialect, bodyOf(`falcon ${dialect}`))
      const called = await app().post(endpoint, bodyOf(`falcon ${dialect}`))
      assert.equal(tried.status, 400)
      assert.deepEqual([...tried.headers.keys()].toSorted(), [...called.headers.keys()].toSorted())
      assert.deepEqual(shapeOf(await tried.json()), shapeOf(await called.json()))
    })

    it(`with an invalid body gets the error of ${endpoint}`, async () => {
      const tried = await send(dialect, { model: 7 })
      const called = await app().post(endpoint, { model: 7 })
      assert.equal(tried.status, called.status)
      assert.deepEqual(shapeOf(await tried.json()), shapeOf(await called.json()))
    })
  }

  it('applies the policies of its project, and reads the X-Policy headers', async () => {
    const own = await admin().post('/projects', { name: 'Own' })
    const scope = { scope: 'projects', project_ids: [textOf(own)], mode: 'enforcing' }
    const policy = await admin().post('/policies', { name: 'Scoped', rule: 'Say "osprey"', ...scope })
    await admin().post(`/policies/${textOf(policy)}/publish`, { revision: 1 })
    const body = inferenceEndpoints.messages.bodyOf('osprey', {})
    const denied = await admin().send('POST', '/playground', {
      body: { project_id: textOf(own), dialect: 'messages', body },
    })
    assert.equal(denied.status, 400)
    const allowed = await send('messages', body, { 'x-policy-user': 'ada' })
    assert.equal(allowed.status, 200)
    await allowed.text()
    const request = await admin().get(`/requests/${allowed.headers.get('x-request-id')}`)
    assert.equal(request['user_id'], 'ada')
  })

  it('works with a session of the console, which the log names as such', async () => {
    const browser = openBrowser(app())
    await browser.signIn({ key: app().adminKey })
    const body = inferenceEndpoints.chat.bodyOf('Hello', {})
    const answer = await browser.post(path, { project_id: app().projectId, dialect: 'chat', body })
    assert.equal(answer.status, 200)
    await answer.text()
    const request = await admin().get(`/requests/${answer.headers.get('x-request-id')}`)
    assert.equal(request['actor_type'], 'console')
  })

  it('stores a response for the project, as the endpoint does', async () => {
    const answer = await send('responses', inferenceEndpoints.responses.bodyOf('Hello', {}))
    const { id } = (await answer.json()) as { id: string }
    assert.equal((await app().get(`/v1/responses/${id}`)).status, 200)
  })
})

describe('a request of the playground that costs credits', () => {
  it('is charged to the organization, and counts in the usage of its project', async () => {
    await using paid = await startPaidApp()
    const authorization = `Bearer ${paid.app.adminKey}`
    paid.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
    const before = await paid.remaining()
    const body = { project_id: paid.app.projectId, dialect: 'messages', body: question }
    const answer = await paid.app.post(path, body, { authorization })
    assert.equal(answer.status, 200)
    await answer.text()
    assert.equal(before - (await paid.remaining()), 15)
    assert.equal((await paid.used()).requests, 1)
  })
})

/** The names and types of all members. Ids and times differ between two answers. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(Object.entries(value as Json).map(([name, member]) => [name, shapeOf(member)]))
}

const eventsIn = (stream: string): string[] =>
  stream
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? [JSON.stringify(shapeOf(JSON.parse(line.slice(6))))] : []))
