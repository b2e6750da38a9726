import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { ClientTool, Client } from '../client.ts'
import { startPairs, upstreamKinds } from '../scene.ts'

/** Long, because the first test of a framework includes its import. */
const timeout = 180_000

/** Runs the same conversations with a client over every kind of upstream. */
export function converseEverywhere(clients: readonly Client[]): void {
  let scene: Awaited<ReturnType<typeof startPairs>>
  before(async () => void (scene = await startPairs()))
  after(() => scene[Symbol.asyncDispose]())

  for (const client of clients) {
    for (const model of upstreamKinds) {
      describe(`${client.name}, over ${model}`, { timeout }, () => {
        it('gets a response', async () => {
          const response = await client.send(scene.near, { model, text: 'Hello' })
          assert.match(response.text, /You said: Hello/)
          assert.equal(response.isRefusal, false)
          if (client.showsUsage !== false) assert.ok(response.outputTokens > 0)
        })
        it('runs a tool and sends back its result', async () => {
          const { tool, inputs } = createTool()
          const response = await client.send(scene.near, { model, tool, text: callText })
          assert.deepEqual(inputs, [{ city: 'Rome' }])
          assert.match(response.text, /The tool answered: sunny/)
        })
        it('shows the thinking', async () => {
          const response = await client.send(scene.near, { model, text: 'Hello', wantsThinking: true })
          assert.match(response.text, /You said: Hello/)
          if (client.showsThinking) assert.match(response.thinking, /I was asked: Hello/)
        })
        it('runs a tool after thinking and sends back both', async () => {
          const { tool, inputs } = createTool()
          const response = await client.send(scene.near, { model, tool, text: callText, wantsThinking: true })
          assert.deepEqual(inputs, [{ city: 'Rome' }])
          assert.match(response.text, /The tool answered: sunny/)
        })
        it('handles a refusal', async () => {
          const response = await client.send(scene.near, { model, text: 'please refuse' }).catch((error: unknown) => {
            if (client.onRefusal === 'may raise') return undefined
            throw error
          })
          if (client.onRefusal === 'tells') assert.equal(response?.isRefusal, true)
        })
      })
    }
  }
}

/** Requests an object with a client over every kind of upstream. */
export function requestObjectsEverywhere(clients: readonly Client[]): void {
  let scene: Awaited<ReturnType<typeof startPairs>>
  before(async () => void (scene = await startPairs()))
  after(() => scene[Symbol.asyncDispose]())

  for (const client of clients) {
    for (const model of upstreamKinds) {
      it(`gets an object that fits a schema: ${client.name}, over ${model}`, { timeout }, async () => {
        const { text } = await client.send(scene.near, { model, text: cityText, wantsObject: true })
        assert.deepEqual(JSON.parse(text), { city: 'city' })
      })
    }
  }
}

/** For frameworks that get an object by a tool with the name of its class, and let the model choose. */
const cityText = 'Please call City {"city":"city"}'

const callText = 'Please call weather {"city":"Rome"}'

function createTool(): { tool: ClientTool; inputs: unknown[] } {
  const inputs: unknown[] = []
  const schema = {
    type: 'object' as const,
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  }
  const run = (input: unknown): string => {
    inputs.push(input)
    return 'sunny'
  }
  return { tool: { name: 'weather', description: 'The weather.', schema, run }, inputs }
}
