import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { startTestApp, type TestApp } from '../../support/app.ts'
import type { Client } from '../client.ts'
import { newestClients } from '../newest.ts'
import { modelName as model, startModelServer, withoutModel, type ModelServer } from './model-server.ts'
import { createPython, officialClients, withoutPython, type PythonClient } from './python.ts'

/** The operator's limit for a model. */
const maxOutputTokens = 12

/** A word has at least one token. Streams of this server report no usage, so the words are counted. */
const wordsOf = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length

describe('a real model on this machine', { skip: withoutModel, timeout: 600_000 }, () => {
  let server: ModelServer
  let app: TestApp
  const address = () => ({ url: app.url, apiKey: app.apiKey })
  const openai = () => new OpenAI({ baseURL: `${app.url}/v1`, apiKey: app.apiKey, maxRetries: 0 })
  const anthropic = () => new Anthropic({ baseURL: app.url, apiKey: app.apiKey, maxRetries: 0 })

  before(async () => {
    server = await startModelServer()
    const base_url = `${server.url}/v1`
    app = await startTestApp({
      config: {
        upstreams: [
          { name: 'unnamed', kind: 'openai-chat', base_url },
          { name: 'named', kind: 'openai-chat', base_url, server: 'llama-cpp-python' },
        ],
        models: [
          { name: '*', targets: [{ upstream: 'unnamed' }], max_output_tokens: maxOutputTokens },
          { name: 'named', targets: [{ upstream: 'named', model }], max_output_tokens: maxOutputTokens },
        ],
      },
    })
  })
  after(async () => {
    await app[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })

  const answersWithinTheLimit = (client: Client): void => {
    void it(`answers ${client.name}, within the operator’s limit`, async () => {
      const response = await client.send(address(), { model, text: 'Count from one to a hundred, in words.' })
      assert.ok(wordsOf(response.text) > 0)
      assert.ok(wordsOf(response.text) <= maxOutputTokens, response.text)
      if (!client.isStreaming) assert.ok(response.outputTokens <= maxOutputTokens)
    })
  }

  describe('with the official clients', () => {
    for (const client of newestClients) answersWithinTheLimit(client)
  })

  describe('with the official clients for Python', { skip: withoutPython('newest') }, () => {
    // OpenAI's stream helpers raise an error for every response that a limit cut off, also for OpenAI's own.
    const isUnfit = ({ module, mode }: PythonClient): boolean => module !== 'messages' && mode === 'stream helper'
    const clients = officialClients.filter((client) => client.module !== 'tool_runner' && !isUnfit(client))
    const python = createPython('newest', clients)
    after(() => python[Symbol.asyncDispose]())
    for (const client of python.clients) answersWithinTheLimit(client)
  })

  it('is listed for both vendors’ clients, and can be read by its name', async () => {
    const ids = (await openai().models.list()).data.map(({ id }) => id)
    assert.deepEqual(ids.toSorted(), ['named', model])
    assert.deepEqual((await anthropic().models.list()).data.map(({ id }) => id).toSorted(), ['named', model])
    assert.equal((await openai().models.retrieve(model)).id, model)
  })

  it('respects the limit of the caller, under every name that it has', async () => {
    const messages = [{ role: 'user' as const, content: 'Count from one to a hundred, in words.' }]
    const newer = await openai().chat.completions.create({ model, messages, max_completion_tokens: 3 })
    const older = await openai().chat.completions.create({ model, messages, max_tokens: 3 })
    for (const { choices, usage } of [newer, older])
      assert.deepEqual([choices[0]?.finish_reason, usage?.completion_tokens], ['length', 3])
    const message = await anthropic().messages.create({ model, messages, max_tokens: 3 })
    assert.deepEqual([message.stop_reason, message.usage.output_tokens], ['max_tokens', 3])
  })

  it('accepts text in parts, and a tool call without content', async () => {
    const call = { id: 'call_1', type: 'function' as const, function: { name: 'weather', arguments: '{}' } }
    const { choices } = await openai().chat.completions.create({
      model,
      messages: [
        { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
        { role: 'user', content: [{ type: 'text', text: 'How is the weather?' }] },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
      ],
    })
    assert.equal(choices[0]?.message.role, 'assistant')
  })

  it('answers with JSON of a schema if the server is named', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }
    const { choices } = await openai().chat.completions.create({
      model: 'named',
      messages: [{ role: 'user', content: 'Is the sky blue?' }],
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
    })
    assert.equal(typeof JSON.parse(choices[0]?.message.content ?? '')['ok'], 'boolean')
  })
})
