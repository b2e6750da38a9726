import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answerWith, startPaidApp, type PaidApp } from '../../support/paid-app.ts'

type Created = { readonly id: string }

async function create({ app }: PaidApp, body: object): Promise<string> {
  const response = await app.post('/v1/responses', { model: 'paid', ...body })
  assert.equal(response.status, 200, await response.clone().text())
  return ((await response.json()) as Created).id
}

const remove = async ({ app }: PaidApp, id: string): Promise<number> =>
  (
    await fetch(`${app.url}/v1/responses/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${app.apiKey}` },
    })
  ).status

/** The messages that the upstream got with the last request. */
const lastMessages = ({ upstream }: PaidApp): readonly Record<string, unknown>[] =>
  (JSON.parse(upstream.requests.at(-1)?.body ?? '{}') as { messages: Record<string, unknown>[] }).messages

const textsOf = (scene: PaidApp): unknown[] => lastMessages(scene).map(({ content }) => content)

describe('a stored response that is deleted', () => {
  it('is no longer found, and the responses after it still continue without it', async () => {
    await using scene = await startPaidApp()
    const ids: string[] = []
    for (const turn of ['one', 'two', 'three']) {
      scene.upstream.answer(answerWith(`answer ${turn}`, { input: 1, output: 1 }))
      ids.push(await create(scene, { input: turn, previous_response_id: ids.at(-1) ?? null }))
    }
    const [first = '', second = '', third = ''] = ids
    assert.equal(await remove(scene, second), 200)
    assert.equal(await remove(scene, second), 404)
    assert.equal((await scene.app.get(`/v1/responses/${second}`)).status, 404)
    await create(scene, { input: 'four', previous_response_id: third })
    assert.deepEqual(textsOf(scene), ['one', 'answer one', 'three', 'answer three', 'four'])
    const listed = await (await scene.app.get(`/v1/responses/${third}/input_items?order=asc`)).text()
    assert.deepEqual(listed.match(/one|two|three/g), ['one', 'one', 'three'])
    const direct = await scene.app.post('/v1/responses', { model: 'paid', input: 'x', previous_response_id: second })
    assert.equal(direct.status, 400)
    assert.match(await direct.text(), /Previous response with id .* not found/)
    assert.equal((await scene.app.get(`/v1/responses/${first}`)).status, 200)
  })

  it('takes the outputs of its tool calls out of the conversation, which no upstream would accept alone', async () => {
    await using scene = await startPaidApp()
    const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } }
    const choice = {
      index: 0,
      message: { role: 'assistant', content: null, tool_calls: [call] },
      finish_reason: 'tool_calls',
    }
    scene.upstream.answer((response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'paid', choices: [choice] }))
    })
    const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object' } }]
    const calling = await create(scene, { input: 'Weather?', tools })
    scene.upstream.answer(answerWith('Sunny.', { input: 1, output: 1 }))
    const output = { type: 'function_call_output', call_id: 'call_1', output: 'sun' }
    const answered = await create(scene, { input: [output], tools, previous_response_id: calling })
    assert.equal(await remove(scene, calling), 200)
    await create(scene, { input: 'Thanks', tools, previous_response_id: answered })
    assert.deepEqual(textsOf(scene), ['Sunny.', 'Thanks'])
  })
})
