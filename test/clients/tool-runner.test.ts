import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { Address } from './client.ts'
import { chatToolRunners, messagesToolRunners } from './drivers/tool-runner.ts'
import { networkKinds, promptOf, startScripted } from './scripted-upstream.ts'

const timeout = 30_000

/** Whether each request of the Anthropic SDK had a thread, in order. */
const threads: boolean[] = []
const recordingFetch: typeof fetch = (input, init) => {
  threads.push(Object.hasOwn(JSON.parse(String(init?.body)) as object, 'thread'))
  return fetch(input, init)
}
const openai = ({ url, apiKey }: Address): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
const anthropic = ({ url, apiKey }: Address): Anthropic =>
  new Anthropic({ baseURL: url, apiKey, maxRetries: 0, fetch: recordingFetch })

describe('a tool runner of the newest SDKs', () => {
  let scene: Awaited<ReturnType<typeof startScripted>>
  before(async () => void (scene = await startScripted()))
  after(() => scene[Symbol.asyncDispose]())
  let count = 0

  for (const client of [...messagesToolRunners('Anthropic', anthropic), ...chatToolRunners('OpenAI', openai)]) {
    for (const kind of networkKinds) {
      it(`runs each call once and sends back all results: ${client.name}, over ${kind}`, { timeout }, async () => {
        threads.length = 0
        const last = `${promptOf({ recording: 'text', form: 'stream', at: 99, fault: 'end' })} #${count++}`
        const inputs: unknown[] = []
        const tool = {
          name: 'read',
          description: 'Reads a file.',
          schema: { type: 'object' as const, properties: { path: { type: 'string' } }, required: ['path'] },
          run: (input: unknown): string => (inputs.push(input), last),
        }
        const text = promptOf({ recording: 'parallel-tools', form: 'stream', at: 99, fault: 'end' })
        const response = await client.send(scene.app, { model: kind, text, tool })
        assert.equal(response.text, 'Grüße, 世界 👋')
        assert.deepEqual(inputs, [{ path: 'a' }, { path: 'b' }])
        const { body } = await scene.receivedRequest(last)
        // The first request is rejected, and sent again without a thread.
        if (client.dialect === 'messages') assert.deepEqual(threads, [true, false, false])
        assert.ok(body.includes(text) && body.includes('Reading both.'), 'the upstream gets the whole conversation')
      })
    }
  }
})
