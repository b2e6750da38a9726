import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { freePort } from '../../../scripts/test/ready.ts'
import { callerFormats } from '../../../src/domain/inference/formats.ts'
import { networkKinds } from '../../clients/scripted-upstream.ts'
import { sendPrompt, type Prompt } from '../../evaluation/dialects.ts'
import { writeResponse } from '../../evaluation/upstream-response.ts'
import { startUpstream } from '../../support/upstream.ts'
import { operatorOf } from '../../support/operator.ts'
import { startAdminApp, textOf, type AdminApp, type Json } from '../../support/administration.ts'

const model = 'gatehouse-echo'

/** The response of every vendor. */
const osprey = { type: 'text', text: `${'A bird sings in the morning. '.repeat(40)}An osprey catches fish.` } as const

/** A text that each check denies. */
const denials = [
  { by: 'a policy', direction: 'request', text: 'A falcon is a bird of prey.' },
  {
    by: 'a policy',
    direction: 'response',
    text: `${'A bird sings in the morning. '.repeat(40)}An osprey catches fish.`,
  },
  { by: 'the gateway configuration', direction: 'request', text: 'A sparrow is small.' },
  { by: 'an always blocked category', direction: 'request', text: 'I want to kill myself tonight.' },
] as const

describe('the addresses of a denial', () => {
  const opened = new AsyncDisposableStack()
  let app: AdminApp
  before(async () => {
    const port = await freePort()
    const upstreams = await Promise.all(
      networkKinds.map(async (kind) => {
        const upstream = opened.use(
          await startUpstream((response, request) => writeResponse(kind, [osprey], { request, response })),
        )
        const base_url = kind === 'anthropic' ? upstream.url : `${upstream.url}/v1`
        return { name: kind, kind, base_url, api_key: 'sk-of-the-test' }
      }),
    )
    const models = [
      ...networkKinds.map((name) => ({ name, targets: [{ upstream: name }] })),
      { name: model, targets: [{ upstream: 'echo' }] },
    ]
    const server = { port, public_url: `http://127.0.0.1:${port}` }
    app = opened.use(
      await startAdminApp({ config: { server, upstreams: [...upstreams, { name: 'echo', kind: 'echo' }], models } }),
    )
    await publish('falcon', 'request')
    await publish('osprey', 'response')
    const headers = { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ rules: { denylist: ['sparrow'] } })
    const saved = await fetch(`${app.url}/api/policy-gateway/config`, { method: 'PUT', headers, body })
    assert.equal(saved.status, 200)
  })
  after(() => opened.disposeAsync())

  async function publish(word: string, direction: string): Promise<void> {
    const content = { name: `No ${word}`, rule: `cel:text.contains("${word}")`, mode: 'enforcing', direction }
    const id = textOf(await app.admin.post('/policies', content))
    await app.admin.post(`/policies/${id}/publish`, { revision: 1 })
  }

  /** Both lead to this decision, for a key and for a person. */
  async function checkAddresses(policy: Json | undefined): Promise<void> {
    assert.ok(policy, 'there is no policy object')
    const { event_id: id, explain_url: explain, appeal_url: appeal } = policy
    assert.equal(explain, `${app.url}/v1/decisions/${String(id)}`)
    // A key has ten reads a minute.
    const { value } = await operatorOf(app.app, app.organizationId).createKey({ name: 'Reader' })
    const known = await fetch(explain, { headers: { authorization: `Bearer ${value}` } })
    assert.equal(known.status, 200)
    assert.equal(((await known.json()) as Json)['effective_decision'], 'refuse')
    const page = await fetch(String(appeal))
    assert.equal(page.status, 200)
    assert.ok((await page.text()).includes(String(id)))
  }

  for (const dialect of callerFormats)
    for (const stream of [false, true])
      for (const { by, direction, text } of denials)
        it(`arrive in ${dialect}, ${stream ? 'streamed' : 'whole'}, if ${by} denies the ${direction}`, async () => {
          const prompt: Prompt = { model, text, stream }
          const { ending, policy } = await sendPrompt(app, dialect, prompt)
          assert.equal(ending, direction === 'request' ? 'denied' : 'filtered')
          await checkAddresses(policy)
        })

  for (const kind of networkKinds)
    for (const dialect of callerFormats)
      for (const stream of [false, true])
        it(`arrive in ${dialect}, ${stream ? 'streamed' : 'whole'}, if the response of ${kind} is denied`, async () => {
          const { ending, policy } = await sendPrompt(app, dialect, { model: kind, text: 'Which bird?', stream })
          assert.equal(ending, 'filtered')
          await checkAddresses(policy)
        })

  it('arrive in the usage chunk of a chat stream', async () => {
    const messages = [{ role: 'user', content: 'Which bird?' }]
    const body = { model: 'openai-chat', stream: true, stream_options: { include_usage: true }, messages }
    const frames = await (await app.post('/v1/chat/completions', body)).text()
    const last = frames.split('\n').findLast((line) => line.startsWith('data: {')) ?? ''
    const { usage, policy } = JSON.parse(last.slice('data: '.length)) as Json
    assert.ok(usage)
    await checkAddresses(policy as Json)
  })

  it('arrive if the input of embeddings is denied', async () => {
    const response = await app.post('/v1/embeddings', { model, input: ['Hello', 'A falcon is a bird of prey.'] })
    assert.equal(response.status, 400)
    await checkAddresses(((await response.json()) as Json)['policy'] as Json)
  })

  it('are not in the results of moderation, which denies nothing', async () => {
    const response = await app.post('/v1/moderations', { input: 'I want to kill myself because of a falcon.' })
    assert.equal(response.status, 200)
    assert.doesNotMatch(await response.text(), /_url|policy/)
  })
})
