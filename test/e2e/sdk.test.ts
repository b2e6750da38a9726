import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { startTestApp, type TestApp } from '../support/app.ts'

/** The first minute of a new user: a fresh app, its echo upstream, and the SDKs that they already use. */
describe('the official SDKs on a fresh app', () => {
  let scene: TestApp
  let openai: OpenAI
  let anthropic: Anthropic
  const model = 'gatehouse-echo'
  const messages = [{ role: 'user' as const, content: 'Hello there' }]

  before(async () => {
    scene = await startTestApp()
    openai = new OpenAI({ baseURL: `${scene.url}/v1`, apiKey: scene.apiKey, maxRetries: 0 })
    anthropic = new Anthropic({ baseURL: scene.url, apiKey: scene.apiKey, maxRetries: 0 })
  })
  after(() => scene[Symbol.asyncDispose]())

  it('answer a message, whole and streamed alike', async () => {
    const whole = await anthropic.messages.create({ model, max_tokens: 200, messages })
    const streamed = await anthropic.messages.stream({ model, max_tokens: 200, messages }).finalMessage()
    const textOf = (message: Anthropic.Message): string =>
      message.content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('')
    assert.match(textOf(whole), /Hello there/)
    assert.equal(textOf(streamed), textOf(whole))
    assert.equal(whole.stop_reason, 'end_turn')
    assert.ok(whole.usage.input_tokens > 0 && whole.usage.output_tokens > 0)
  })
  it('answer a response, whole and streamed alike', async () => {
    const whole = await openai.responses.create({ model, input: 'Hello there' })
    const streamed = await openai.responses.stream({ model, input: 'Hello there' }).finalResponse()
    assert.match(whole.output_text, /Hello there/)
    assert.equal(streamed.output_text, whole.output_text)
    assert.equal(whole.status, 'completed')
  })
  it('answer a chat completion, whole and streamed alike', async () => {
    const whole = await openai.chat.completions.create({ model, messages })
    const streamed = await openai.chat.completions.stream({ model, messages }).finalChatCompletion()
    assert.match(whole.choices[0]?.message.content ?? '', /Hello there/)
    assert.equal(streamed.choices[0]?.message.content, whole.choices[0]?.message.content)
    assert.equal(whole.choices[0]?.finish_reason, 'stop')
  })
  it('list the models', async () => {
    assert.deepEqual(
      (await openai.models.list()).data.map(({ id }) => id),
      [model],
    )
    assert.deepEqual(
      (await anthropic.models.list()).data.map(({ id }) => id),
      [model],
    )
    assert.equal((await openai.models.retrieve(model)).id, model)
  })
  it('count tokens', async () => {
    assert.ok((await anthropic.messages.countTokens({ model, messages })).input_tokens > 0)
  })
  it('continue an earlier response, read it and delete it', async () => {
    const first = await openai.responses.create({ model, input: 'My name is Ada' })
    const second = await openai.responses.create({ model, input: 'And now?', previous_response_id: first.id })
    assert.equal(second.status, 'completed')
    assert.deepEqual((await openai.responses.retrieve(first.id)).output, first.output)
    await openai.responses.delete(first.id)
    await assert.rejects(openai.responses.retrieve(first.id), OpenAI.NotFoundError)
    await assert.rejects(
      openai.responses.create({ model, input: 'x', previous_response_id: first.id }),
      OpenAI.BadRequestError,
    )
  })
  it('get the id of the previous response, even if the new one is not stored', async () => {
    const first = await openai.responses.create({ model, input: 'My name is Ada' })
    const input = { model, input: 'And now?', previous_response_id: first.id }
    const next = await openai.responses.create({ ...input, store: false })
    assert.partialDeepStrictEqual(next, { previous_response_id: first.id, store: false })
  })
  it('count earlier turns among the tokens of the next', async () => {
    const first = await openai.responses.create({ model, input: 'word '.repeat(100) })
    const next = { model, input: 'And now?', previous_response_id: first.id }
    assert.ok((await openai.responses.inputTokens.count(next)).input_tokens > 200)
  })
  it('get an error for streaming a stored response, instead of waiting for events', async () => {
    const { id } = await openai.responses.create({ model, input: 'Hello' })
    await assert.rejects(openai.responses.retrieve(id, { stream: true }), OpenAI.BadRequestError)
    assert.equal((await openai.responses.retrieve(id, { stream: false, include_obfuscation: false })).id, id)
  })
  it('return the credit fields of the contract', async () => {
    const body = (await (await scene.post('/v1/messages', { model, max_tokens: 10, messages })).json()) as Record<
      string,
      unknown
    >
    assert.equal(typeof body['estimated_credits_used'], 'number')
    assert.equal(typeof body['estimated_cost_usd'], 'number')
    assert.ok('remaining_credits' in body)
  })
  it('report a wrong key', async () => {
    const stranger = new Anthropic({ baseURL: scene.url, apiKey: 'ak_wrong', maxRetries: 0 })
    await assert.rejects(stranger.messages.create({ model, max_tokens: 10, messages }), Anthropic.AuthenticationError)
    const other = new OpenAI({ baseURL: `${scene.url}/v1`, apiKey: 'ak_wrong', maxRetries: 0 })
    await assert.rejects(other.chat.completions.create({ model, messages }), OpenAI.AuthenticationError)
  })
  it('accept the key in x-api-key, and prefer Authorization if both are sent', async () => {
    const body = { model, max_tokens: 10, messages }
    assert.equal((await scene.post('/v1/messages', body, { 'x-api-key': scene.apiKey })).status, 200)
    assert.equal(
      (await scene.post('/v1/messages', body, { 'x-api-key': scene.apiKey, authorization: 'Bearer ak_wrong' })).status,
      401,
    )
    assert.equal(
      (await scene.post('/v1/messages', body, { 'x-api-key': 'ak_wrong', authorization: `Bearer ${scene.apiKey}` }))
        .status,
      200,
    )
  })
})
