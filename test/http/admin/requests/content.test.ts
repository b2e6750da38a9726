import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openConsoleScene } from '../../../support/console-scene.ts'

type Marked = { readonly text: string; readonly evidence: readonly Record<string, unknown>[] }
type Content = {
  readonly level: string
  readonly prompt: Marked
  readonly response: Marked
  readonly messages: readonly { readonly role: string; readonly text: string }[]
  readonly parameters: object | null
  readonly not_restored: readonly string[]
}
type Detail = { readonly is_content_kept: boolean; readonly content: Content | null }
type Event = { readonly kind: string; readonly resource_id: string; readonly actor: { type: string; id: string } }

async function openScene(content: 'none' | 'redacted' | 'full') {
  const scene = await openConsoleScene({ config: { audit: { content } } })
  const admin = { authorization: `Bearer ${scene.adminKey}` }
  const read = async (path: string, headers = admin) => {
    const response = await scene.get(`/v1/organization${path}`, headers)
    return { status: response.status, body: await response.json() }
  }
  return {
    ...scene,
    admin,
    read,
    detail: async (id: string, query = '?include=content') => (await read(`/requests/${id}${query}`)).body as Detail,
    async reads(): Promise<Event[]> {
      const { body } = await read('/audit_logs?kind=audit.content.read')
      return (body as { data: Event[] }).data
    },
    async keyWith(permissions: readonly string[]) {
      const made = await scene.post('/v1/organization/admin_api_keys', { name: 'B', permissions }, admin)
      return (await made.json()) as { id: string; value: string }
    },
    async change(path: string, body: object, method: 'POST' | 'PUT' | 'PATCH' = 'POST') {
      const headers = { ...admin, 'content-type': 'application/json' }
      const response = await fetch(scene.url + path, { method, headers, body: JSON.stringify(body) })
      assert.ok(response.ok, await response.text())
    },
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  }
}

const markedIn = ({ text, evidence }: Marked): [unknown, string][] =>
  evidence.map(({ kind, start, end }) => [kind, text.slice(Number(start), Number(end))])

describe('the texts of a request', () => {
  it('are in the answer if they are kept and asked for, with what the policy found', async () => {
    await using scene = await openScene('full')
    const id = await scene.ask('Tell me about the falcon.')
    const { content } = await scene.detail(id)
    assert.equal(content?.level, 'full')
    assert.equal(content.prompt.text, 'user: Tell me about the falcon.')
    assert.deepEqual(markedIn(content.prompt), [['phrase', 'falcon']])
    assert.equal(content.prompt.evidence[0]?.['policy_id'], scene.policyId)
    assert.deepEqual(content.response, { text: '', evidence: [], withheld_from: null })
  })

  it('are left out, and no read is recorded, if nobody asks for them', async () => {
    await using scene = await openScene('full')
    const { is_content_kept: isKept, content } = await scene.detail(await scene.ask('Hello'), '')
    assert.deepEqual([isKept, content], [true, null])
    assert.deepEqual(await scene.reads(), [])
  })

  it('are never read without an event that names the reader and the request', async () => {
    await using scene = await openScene('full')
    const id = await scene.ask('Hello')
    const { id: keyId, value } = await scene.keyWith(['audit:read', 'content:read'])
    const { status } = await scene.read(`/requests/${id}?include=content`, { authorization: `Bearer ${value}` })
    assert.equal(status, 200)
    await scene.detail(id)
    const events = await scene.reads()
    assert.deepEqual(
      events.map(({ resource_id: resource }) => resource),
      [id, id],
    )
    assert.deepEqual(events[1]?.actor, { type: 'admin_key', id: keyId })
  })

  it('need the permission content:read', async () => {
    await using scene = await openScene('full')
    const id = await scene.ask('Hello')
    const { value } = await scene.keyWith(['audit:read'])
    const headers = { authorization: `Bearer ${value}` }
    const { status, body } = await scene.read(`/requests/${id}?include=content`, headers)
    assert.equal(status, 403)
    assert.match(JSON.stringify(body), /content:read/)
    assert.equal((await scene.read(`/requests/${id}`, headers)).status, 200)
    assert.deepEqual(await scene.reads(), [])
  })

  it('are null, and no read is recorded, if the installation keeps none', async () => {
    await using scene = await openScene('none')
    const { is_content_kept: isKept, content } = await scene.detail(await scene.ask('Hello'))
    assert.deepEqual([isKept, content], [false, null])
    assert.deepEqual(await scene.reads(), [])
  })

  it('have no personal data if only redacted texts are kept', async () => {
    await using scene = await openScene('redacted')
    const detail = await scene.detail(await scene.ask('Write to ada@example.com about the falcon.'))
    assert.equal(detail.content?.level, 'redacted')
    assert.doesNotMatch(JSON.stringify(detail), /ada@example\.com/)
    assert.deepEqual(markedIn(detail.content.prompt), [['phrase', 'falcon']])
  })

  it('are marked by the versions that decided, also after the rules changed', async () => {
    await using scene = await openScene('full')
    const config = { rules: { denylist: ['heron'] } }
    await scene.change('/api/policy-gateway/config', config, 'PUT')
    const byPolicy = await scene.ask('the falcon flies')
    const byGateway = await scene.ask('the heron fishes')
    await scene.change('/api/policy-gateway/config', { rules: { denylist: ['flies'] } }, 'PUT')
    const path = `/v1/organization/policies/${scene.policyId}`
    await scene.change(path, { revision: 2, rule: 'cel:text.contains("fishes")' }, 'PATCH')
    await scene.change(`${path}/publish`, { revision: 3 })
    const ofPolicy = await scene.detail(byPolicy)
    assert.deepEqual(ofPolicy.content && markedIn(ofPolicy.content.prompt), [['phrase', 'falcon']])
    const ofGateway = await scene.detail(byGateway)
    assert.deepEqual(ofGateway.content && markedIn(ofGateway.content.prompt), [['term', 'heron']])
  })

  it('are marked in the answer if a check acted on the answer', async () => {
    await using scene = await openScene('full')
    const policy = {
      name: 'No herons in answers',
      rule: 'cel:text.contains("heron")',
      mode: 'monitoring',
      direction: 'response',
    }
    const made = await scene.post('/v1/organization/policies', policy, scene.admin)
    const { id } = (await made.json()) as { id: string }
    await scene.change(`/v1/organization/policies/${id}/publish`, { revision: 1 })
    const { content } = await scene.detail(await scene.ask('Repeat: heron'))
    assert.deepEqual(content && markedIn(content.prompt), [])
    assert.deepEqual(content && markedIn(content.response), [['phrase', 'heron']])
  })

  it('come as messages and parameters, to send the request again', async () => {
    await using scene = await openScene('full')
    const body = {
      model: 'gatehouse-echo',
      max_tokens: 100,
      temperature: 0.5,
      system: 'Be brief.',
      metadata: { user_id: 'ann' },
      messages: [
        { role: 'user', content: 'Hello\nuser: not another message' },
        { role: 'assistant', content: [{ type: 'text', text: 'Yes?' }] },
        { role: 'user', content: 'Go on' },
      ],
    }
    const response = await scene.post('/v1/messages', body)
    await response.text()
    const { content } = await scene.detail(response.headers.get('x-request-id') ?? '')
    assert.deepEqual(content?.messages, [
      { role: 'system', text: 'Be brief.' },
      { role: 'user', text: 'Hello\nuser: not another message' },
      { role: 'assistant', text: 'Yes?' },
      { role: 'user', text: 'Go on' },
    ])
    assert.deepEqual(content.parameters, { max_tokens: 100, temperature: 0.5 })
    assert.deepEqual(content.not_restored, [])
  })

  it('say that personal data was replaced in what would be sent again', async () => {
    await using scene = await openScene('redacted')
    const { content } = await scene.detail(await scene.ask('Write to ada@example.com.'))
    assert.deepEqual(content?.messages, [{ role: 'user', text: 'Write to [EMAIL_1].' }])
    assert.deepEqual(content.not_restored, ['personal_data'])
  })

  it('stay in their organization', async () => {
    await using scene = await openScene('full')
    const id = await scene.ask('Hello')
    const { id: other } = await scene.app.client.post<{ id: string }>('/operator/organizations', { name: 'Other' })
    const client = scene.app.client.inOrganization(other)
    await assert.rejects(client.get(`/v1/organization/requests/${id}`, { include: 'content' }), /There is no request/)
    assert.deepEqual(await scene.reads(), [])
  })
})
