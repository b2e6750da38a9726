import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { createOpenAI } from '@ai-sdk/openai'
import { generateObject, generateText, jsonSchema, Output, streamText, type ModelMessage } from 'ai'
import { startPairs, upstreamKinds } from '../scene.ts'
import { httpKinds, promptOf, startScripted } from '../scripted-upstream.ts'
import { aiSdkClients, providers } from './ai-sdk.ts'
import { converseEverywhere } from './conversations.ts'
import { failEverywhere } from './failures.ts'

const timeout = 60_000

converseEverywhere(aiSdkClients)
failEverywhere(aiSdkClients)

describe('the AI SDK requesting an object', { timeout }, () => {
  let scene: Awaited<ReturnType<typeof startPairs>>
  before(async () => void (scene = await startPairs()))
  after(() => scene[Symbol.asyncDispose]())

  const schema = jsonSchema<{ city: string }>({
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  })
  for (const { name, model } of providers) {
    for (const upstream of upstreamKinds) {
      const request = () => ({ model: model(scene.near, upstream), prompt: 'JSON', maxRetries: 0 })
      it(`gets one: ${name}, over ${upstream}`, async () => {
        const { output } = await generateText({ ...request(), output: Output.object({ schema }) })
        assert.deepEqual(Object.keys(output), ['city'])
        const stream = streamText({ ...request(), output: Output.object({ schema }) })
        assert.deepEqual(await stream.output, output)
        // oxlint-disable-next-line typescript/no-deprecated -- much code still uses it
        assert.deepEqual((await generateObject({ ...request(), schema })).object, output)
      })
    }
  }
})

describe('the AI SDK with its default provider, which refers to stored responses', () => {
  let scene: Awaited<ReturnType<typeof startScripted>>
  before(async () => void (scene = await startScripted()))
  after(() => scene[Symbol.asyncDispose]())

  for (const [at, upstream] of httpKinds.entries()) {
    it(`continues from its first response, over ${upstream}`, { timeout }, async () => {
      const sent: string[] = []
      const recordingFetch: typeof fetch = (input, init) => {
        sent.push(String(init?.body))
        return fetch(input, init)
      }
      const { url, apiKey } = scene.app
      const model = createOpenAI({ baseURL: `${url}/v1`, apiKey, fetch: recordingFetch })(upstream)
      const prompts = [0, 1].map((turn) => {
        const play = { recording: 'text', form: 'stream', at: 99, fault: 'end' } as const
        return `${promptOf(play)} #${at * 10 + turn}`
      })
      const messages: ModelMessage[] = []
      for (const content of prompts) {
        messages.push({ role: 'user', content })
        const result = streamText({ model, messages, maxRetries: 0 })
        assert.equal(await result.text, 'Grüße, 世界 👋')
        messages.push(...(await result.responseMessages))
      }
      assert.match(sent[1] ?? '', /"item_reference"/)
      assert.match((await scene.receivedRequest(prompts[1] ?? '')).body, /Grüße, 世界 👋/)
    })
  }
})
