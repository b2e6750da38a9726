import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { calls, result, say, sentTo, tool } from '../../../../test/support/provider-kit.ts'
import { requestBy } from '../../../../test/support/requests.ts'
import type { ChatServer } from './servers.ts'
import { addressOf } from './servers.ts'

const openServers: readonly ChatServer[] = ['llama.cpp', 'llama-cpp-python', 'ollama', 'vllm', 'lm-studio', 'sglang']

const openai = { settings: { baseUrl: 'https://api.openai.com/v1' } }
/** A server that the operator did not name. */
const unnamed = { settings: { baseUrl: 'http://127.0.0.1:9999/v1' } }
const at = (server: ChatServer) => ({ settings: { server, baseUrl: 'http://127.0.0.1:9999/v1' } })
const anyOpenServer = [unnamed, ...openServers.map(at)]

const fromChat = async (body: object, where: object) =>
  (await sentTo('openai-chat', requestBy('chat', {}, { ...body }), { maxOutputTokens: 100, ...where })).body

describe('a chat request to a server on this machine', () => {
  it('limits the answer with max_tokens, whichever name the caller used', async () => {
    const limits = [{ max_completion_tokens: 7 }, { max_tokens: 7 }, { n_predict: 7 }]
    for (const where of anyOpenServer) {
      for (const limit of limits) {
        const { max_tokens, max_completion_tokens, n_predict } = await fromChat(limit, where)
        assert.deepEqual([max_tokens, max_completion_tokens, n_predict], [7, undefined, undefined])
      }
    }
  })

  it('is capped by the operator’s limit, also if the caller asks for more or for no limit', async () => {
    for (const limit of [{ max_completion_tokens: 9_999 }, { n_predict: -1 }, { max_tokens: 9_999, n_predict: 9_999 }])
      assert.equal((await fromChat(limit, unnamed))['max_tokens'], 100)
  })

  it('keeps the name of the limit for OpenAI', async () => {
    assert.equal((await fromChat({ max_completion_tokens: 7 }, openai))['max_completion_tokens'], 7)
    assert.equal((await fromChat({ max_tokens: 7 }, openai))['max_tokens'], 7)
  })

  it('sends text as a string: parts are joined, and null becomes an empty string', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
    const messages = [
      { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'done' }] },
    ]
    for (const where of anyOpenServer)
      assert.deepEqual((await fromChat({ messages }, where))['messages'], [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'one\n\ntwo' },
        { role: 'assistant', content: '', tool_calls: [call] },
        { role: 'assistant', content: '', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'done' },
      ])
    assert.deepEqual((await fromChat({ messages }, openai))['messages'], messages)
  })

  it('keeps parts that include an image', async () => {
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } },
    ]
    const messages = [{ role: 'user', content }]
    assert.deepEqual((await fromChat({ messages }, unnamed))['messages'], messages)
  })

  it('forces a named tool with `required` where names are rejected or ignored', async () => {
    const tools = ['f', 'g'].map((name) => ({ type: 'function', function: { name, parameters: {} } }))
    const tool_choice = { type: 'function', function: { name: 'g' } }
    for (const where of [unnamed, at('llama.cpp'), at('lm-studio')]) {
      const body = await fromChat({ tools, tool_choice }, where)
      assert.deepEqual([body['tools'], body['tool_choice']], [[tools[1]], 'required'])
    }
    for (const where of [openai, at('vllm'), at('sglang'), at('llama-cpp-python')]) {
      const body = await fromChat({ tools, tool_choice }, where)
      assert.deepEqual([body['tools'], body['tool_choice']], [tools, tool_choice])
    }
  })

  it('sends no tools to Ollama if none may be called, because it ignores the choice', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }]
    const none = await fromChat({ tools, tool_choice: 'none' }, at('ollama'))
    assert.deepEqual([none['tools'], none['tool_choice']], [undefined, undefined])
    const request = requestBy('chat', {}, { tools, tool_choice: 'required' })
    const required = await sentTo('openai-chat', request, at('ollama'))
    assert.deepEqual([required.body['tools'], required.dropped], [tools, ['tool_choice']])
  })

  it('asks for JSON in the form that the server knows', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const json_schema = { type: 'json_schema', json_schema: { name: 'o', schema } }
    const formatAt = async (server: ChatServer, response_format: object) =>
      (await fromChat({ response_format }, at(server)))['response_format']
    assert.deepEqual(await formatAt('vllm', json_schema), json_schema)
    assert.deepEqual(await formatAt('llama-cpp-python', json_schema), { type: 'json_object', schema })
    assert.deepEqual(await formatAt('ollama', { type: 'json_object' }), { type: 'json_object' })
    assert.deepEqual(await formatAt('lm-studio', { type: 'json_object' }), {
      type: 'json_schema',
      json_schema: { name: 'object', schema: { type: 'object' } },
    })
  })
})

describe('a request of another dialect to a server on this machine', () => {
  it('has the same forms: an empty string beside tool calls, and no named choice', async () => {
    const messages = [say('user', 'go'), say('assistant', calls('a', 'f')), say('user', result('a', 'r'))]
    const tools = [tool('f'), tool('g')]
    const request = requestBy('messages', { messages, tools, toolChoice: { type: 'tool', name: 'g' } })
    const { body } = await sentTo('openai-chat', request, unnamed)
    assert.equal((body['messages'] as { content: unknown }[])[1]?.content, '')
    assert.deepEqual([(body['tools'] as unknown[]).length, body['tool_choice']], [1, 'required'])
  })
})

describe('a server that is named without an address', () => {
  it('is called on the port that it usually listens on', async () => {
    const ports = openServers.map((server) => new URL(addressOf(server)).port)
    assert.deepEqual(ports, ['8080', '8000', '11434', '8000', '1234', '30000'])
    const { url } = await sentTo('openai-chat', requestBy('chat'), {
      settings: { server: 'ollama', baseUrl: undefined },
    } as object)
    assert.equal(url, 'http://127.0.0.1:11434/v1/chat/completions')
  })
})
