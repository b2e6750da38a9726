import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import OpenAI from 'openai'
import { startTestApp, type TestApp } from '../../support/app.ts'

type Item = { id: string; type: string; role?: string; content?: unknown; output?: unknown }
type List = { object: string; data: Item[]; first_id: string | null; last_id: string | null; has_more: boolean }

describe('GET /v1/responses/{response_id}/input_items', () => {
  let app: TestApp
  let openai: OpenAI
  before(async () => {
    app = await startTestApp()
    openai = new OpenAI({ baseURL: `${app.url}/v1`, apiKey: app.apiKey, maxRetries: 0 })
  })
  after(() => app[Symbol.asyncDispose]())

  const create = (input: OpenAI.Responses.ResponseCreateParamsNonStreaming['input'], previous?: string) =>
    openai.responses.create({
      model: 'gatehouse-echo',
      ...(input !== undefined && { input }),
      ...(previous !== undefined && { previous_response_id: previous }),
    })
  const list = async (id: string, query = ''): Promise<List> =>
    (await (await app.get(`/v1/responses/${id}/input_items${query}`)).json()) as List

  it('returns the text of a request as a message with an id', async () => {
    const { id } = await create('Hello')
    const { data, ...page } = await list(id)
    assert.deepEqual(data, [
      {
        id: data[0]?.id,
        type: 'message',
        status: 'completed',
        role: 'user',
        content: [{ type: 'input_text', text: 'Hello' }],
      },
    ])
    assert.match(data[0]?.id ?? '', /^msg_\w+$/)
    assert.deepEqual(page, { object: 'list', first_id: data[0]?.id, last_id: data[0]?.id, has_more: false })
  })

  it('returns the items of all turns, last first, unless asked otherwise', async () => {
    const first = await create('One')
    const { id } = await create('Two', first.id)
    const texts = ({ data }: List) => JSON.stringify(data).match(/One|Two/g)
    assert.deepEqual(texts(await list(id, '?order=asc')), ['One', 'One', 'Two']) // the echo repeats the first
    assert.deepEqual(texts(await list(id)), ['Two', 'One', 'One'])
  })

  it('returns pages that the SDK iterates over', async () => {
    const input = Array.from({ length: 45 }, (_, at) => ({ role: 'user' as const, content: `item ${at}` }))
    const { id } = await create(input)
    const seen: string[] = []
    for await (const item of openai.responses.inputItems.list(id, { limit: 20, order: 'asc' })) {
      seen.push(JSON.stringify(item).match(/item \d+/)?.[0] ?? '')
    }
    assert.deepEqual(
      seen,
      input.map(({ content }) => content),
    )
    const { has_more: hasMore, last_id: last } = await list(id, '?limit=44')
    assert.equal(hasMore, true)
    assert.equal((await list(id, `?limit=44&after=${last}`)).data.length, 1)
  })

  it('rejects an unknown cursor, an invalid limit, an unknown response and a missing key', async () => {
    const { id } = await create('Hello')
    const statusOf = async (path: string, headers?: Record<string, string>) =>
      (await app.get(`/v1/responses/${path}`, headers)).status
    assert.equal(await statusOf(`${id}/input_items?after=msg_no`), 400)
    assert.equal(await statusOf(`${id}/input_items?limit=0`), 400)
    assert.equal(await statusOf('resp_none/input_items'), 404)
    assert.equal(await statusOf(`${id}/input_items`, { authorization: '' }), 401)
  })

  it('hides the responses of another project', async () => {
    const { id } = await create('Hello')
    const authorization = `Bearer ${app.adminKey}`
    const made = async (path: string): Promise<{ id: string; value: string }> =>
      (await app.post(`/v1/organization${path}`, { name: 'Other' }, { authorization })).json() as never
    const project = await made('/projects')
    const { value } = await made(`/projects/${project.id}/api_keys`)
    const answer = await app.get(`/v1/responses/${id}/input_items`, { authorization: `Bearer ${value}` })
    assert.equal(answer.status, 404)
    const own = await app.get('/v1/models', { authorization: `Bearer ${value}` })
    assert.equal(own.status, 200)
  })
})
