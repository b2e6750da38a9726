import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'
import { answerJson, startUpstream, type TestUpstream } from '../support/upstream.ts'

const response = {
  id: 'r',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  output: [
    {
      type: 'message',
      id: 'o',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hi' }],
    },
  ],
  usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
}

const others = ['a', 'b', 'c', 'd', 'e', 'f']

const bodies = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/messages': { max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/responses': { input: 'Hi', store: false },
  '/v1/embeddings': { input: 'Hi' },
} as const
type Path = keyof typeof bodies
const paths = Object.keys(bodies) as Path[]

describe('the tags of a request', () => {
  let upstream: TestUpstream
  let app: TestApp
  before(async () => {
    upstream = await startUpstream(answerJson(response))
    app = await startTestApp({
      config: {
        budgets: { tags: ['team', 'env', ...others] },
        upstreams: [
          { name: 'echo', kind: 'echo' },
          { name: 'open', kind: 'openai-responses', base_url: upstream.url },
        ],
        models: [
          { name: 'gatehouse-echo', targets: [{ upstream: 'echo' }] },
          { name: 'gpt', targets: [{ upstream: 'open' }] },
        ],
      },
    })
  })
  after(async () => {
    await app[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
  })

  const send = (path: Path, { tags, ...fields }: { tags?: string } & Record<string, unknown>) =>
    app.post(
      path,
      { model: 'gatehouse-echo', ...bodies[path], ...fields },
      { authorization: `Bearer ${app.apiKey}`, ...(tags !== undefined && { 'x-policy-tags': tags }) },
    )

  const read = async (path: string) => {
    const answer = await app.get(path, { authorization: `Bearer ${app.adminKey}` })
    return (await answer.json()) as Record<string, unknown>
  }

  /** As the detail of the request shows them. */
  const recorded = async (path: Path, labels: { tags?: string } & Record<string, unknown>): Promise<unknown> => {
    const answer = await send(path, labels)
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    const id = answer.headers.get('x-request-id') ?? ''
    return (await read(`/v1/organization/requests/${id}`))['tags']
  }

  for (const path of paths)
    it(`are read from the header and from metadata of ${path}, and the header wins`, async () => {
      const metadata = { team: 'blue', env: ' prod ', other: 'x' }
      assert.deepEqual(await recorded(path, { metadata, tags: 'team=red, colour=green' }), { env: 'prod', team: 'red' })
      assert.deepEqual(await recorded(path, { metadata }), { env: 'prod', team: 'blue' })
      assert.deepEqual(await recorded(path, { tags: 'env = a=b ,' }), { env: 'a=b' })
      assert.deepEqual(await recorded(path, {}), {})
    })

  it('are none where a value of metadata is no text', async () => {
    assert.deepEqual(await recorded('/v1/messages', { metadata: { team: 5, env: null } }), {})
  })

  it('reach neither the upstream as a header, nor change metadata', async () => {
    const metadata = { team: 'blue', other: 'x' }
    assert.deepEqual(await recorded('/v1/responses', { model: 'gpt', metadata, tags: 'team=red' }), { team: 'red' })
    const { headers = {}, body = '{}' } = upstream.requests.at(-1) ?? {}
    assert.equal(headers['x-policy-tags'], undefined)
    assert.deepEqual((JSON.parse(body) as { metadata: unknown }).metadata, metadata)
  })

  const long = 'x'.repeat(65)
  const invalid = [
    { tags: 'red', says: 'X-Policy-Tags: must be tags such as team=red, separated by commas.' },
    { tags: '=red', says: 'X-Policy-Tags: must be tags such as team=red, separated by commas.' },
    { tags: 'team=', says: 'X-Policy-Tags: must be tags such as team=red, separated by commas.' },
    { tags: 'team=red,team=blue', says: 'X-Policy-Tags: has the tag team twice.' },
    {
      tags: `env=a,team=${long}`,
      says: 'X-Policy-Tags: the value of the tag team must have at most 64 characters.',
    },
    { tags: `env=${'x'.repeat(2_000)}`, says: 'X-Policy-Tags: must have at most 2000 characters.' },
    {
      metadata: Object.fromEntries(others.map((name) => [name, 'ж'.repeat(60)])),
      says: 'metadata: the tags of a request must have at most 650 bytes of UTF-8 together.',
    },
    { metadata: { team: long }, says: 'metadata.team: must have at most 64 characters, because it is a tag' },
  ]
  for (const path of paths)
    it(`that are invalid are an error of ${path} that names them`, async () => {
      for (const { says, ...labels } of invalid) {
        const answer = await send(path, labels)
        const { error } = (await answer.json()) as { error: string | { message: string } }
        assert.equal(answer.status, 400)
        assert.equal(typeof error === 'string' ? error : error.message, says)
      }
    })

  it('are ignored if they are not in the configuration', async () => {
    await using plain = await startTestApp()
    const answer = await plain.post(
      '/v1/messages',
      { model: 'gatehouse-echo', ...bodies['/v1/messages'] },
      { authorization: `Bearer ${plain.apiKey}`, 'x-policy-tags': 'malformed' },
    )
    assert.equal(answer.status, 200)
  })
})
