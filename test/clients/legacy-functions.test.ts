import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startPairs, upstreamKinds } from './scene.ts'

type Message = { content: string | null; function_call?: { name: string; arguments: string }; tool_calls?: unknown }
type Choice = { message: Message; finish_reason: string }

const functions = [
  {
    name: 'weather',
    description: 'The weather.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
  { name: 'clock', parameters: { type: 'object', properties: {} } },
]
const question = { role: 'user', content: 'Please call weather {"city":"Rome"}' }

describe('a chat caller that uses functions instead of tools', () => {
  let scene: Awaited<ReturnType<typeof startPairs>>
  before(async () => {
    scene = await startPairs()
  })
  after(() => scene[Symbol.asyncDispose]())

  for (const model of upstreamKinds) {
    const send = (body: object): Promise<Response> => scene.near.post('/v1/chat/completions', { model, ...body })
    const choiceOf = async (body: object): Promise<Choice> => {
      const answer = await send(body)
      const document = (await answer.json()) as { choices: Choice[] }
      assert.ok(document.choices?.[0], JSON.stringify(document))
      return document.choices[0]
    }

    it(`gets its calls as function_call over ${model}`, async () => {
      const { message, finish_reason: finish } = await choiceOf({ functions, messages: [question] })
      assert.deepEqual(message.function_call, { name: 'weather', arguments: '{"city":"Rome"}' })
      assert.deepEqual([finish, message.tool_calls], ['function_call', undefined])
    })

    it(`gets its calls as function_call in a stream over ${model}`, async () => {
      const answer = await (await send({ functions, messages: [question], stream: true })).text()
      const choices = answer
        .split('\n\n')
        .filter((frame) => frame.startsWith('data: {'))
        .flatMap((frame) => JSON.parse(frame.slice(6)).choices)
      const deltas = choices.flatMap(({ delta }) => (delta.function_call ? [delta.function_call] : []))
      assert.deepEqual(deltas.map(({ name }) => name).filter(Boolean), ['weather'])
      assert.equal(deltas.map((delta) => delta.arguments ?? '').join(''), '{"city":"Rome"}')
      assert.equal(choices.findLast((choice) => choice.finish_reason)?.finish_reason, 'function_call')
      assert.doesNotMatch(answer, /tool_calls/)
    })

    it(`can force a function, forbid all, and send results over ${model}`, async () => {
      const forced = await choiceOf({ functions, function_call: { name: 'clock' }, messages: [question] })
      assert.equal(forced.message.function_call?.name, 'clock')
      const forbidden = await choiceOf({ functions, function_call: 'none', messages: [question] })
      assert.equal(forbidden.message.function_call, undefined)
      const call = {
        role: 'assistant',
        content: null,
        function_call: { name: 'weather', arguments: '{"city":"Rome"}' },
      }
      const result = { role: 'function', name: 'weather', content: 'sunny' }
      for (const more of [{ functions }, {}]) {
        const { message, finish_reason: finish } = await choiceOf({ ...more, messages: [question, call, result] })
        assert.match(message.content ?? '', /The tool answered: sunny/)
        assert.equal(finish, 'stop')
      }
    })
  }

  it('gets an error that names the message whose function was never called', async () => {
    const messages = [question, { role: 'function', name: 'weather', content: 'sunny' }]
    const answer = await scene.near.post('/v1/chat/completions', { model: 'echo', functions, messages })
    const { error } = (await answer.json()) as { error: { param: string } }
    assert.deepEqual([answer.status, error.param], [400, 'messages[1].name'])
  })
})
