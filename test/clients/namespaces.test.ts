import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import OpenAI from 'openai'
import { startPairs, upstreamKinds } from './scene.ts'

type Tools = OpenAI.Responses.Tool[]
type Input = OpenAI.Responses.ResponseInput

/** Tools as Codex sends them: most in a flat list, some in a namespace, and one that only OpenAI can run. */
const parameters = { type: 'object', properties: { target: { type: 'string' } }, required: ['target'] }
const close = { type: 'function', name: 'close', description: 'Closes.', strict: false, parameters }
const tools = [
  { ...close, name: 'exec_command' },
  { type: 'namespace', name: 'agents', description: 'Helpers.', tools: [close] },
  { type: 'web_search' },
] as Tools
const tool_choice = { type: 'function', namespace: 'agents', name: 'close' } as OpenAI.Responses.ToolChoiceFunction
const question = { role: 'user' as const, content: 'Close it' }

describe('an agent whose tools are in a namespace', () => {
  let scene: Awaited<ReturnType<typeof startPairs>>
  let openai: OpenAI
  before(async () => {
    scene = await startPairs()
    openai = new OpenAI({ baseURL: `${scene.near.url}/v1`, apiKey: scene.near.apiKey, maxRetries: 0 })
  })
  after(() => scene[Symbol.asyncDispose]())

  for (const model of upstreamKinds) {
    it(`gets calls for both names and sends back the result, over ${model}`, async () => {
      const options = { model, tools, store: false }
      const whole = await openai.responses.create({ ...options, tool_choice, input: [question] })
      const streamed = await openai.responses.stream({ ...options, tool_choice, input: [question] }).finalResponse()
      const outputs: OpenAI.Responses.ResponseOutputItem[][] = [whole.output, streamed.output]
      for (const output of outputs) {
        const call = output.find((item) => item.type === 'function_call')
        assert.ok(call)
        assert.deepEqual([call.namespace, call.name, call.arguments], ['agents', 'close', '{"target":"target"}'])
        const result = { type: 'function_call_output' as const, call_id: call.call_id, output: 'closed' }
        const input = [question, ...output, result] as Input
        const { output_text: text } = await openai.responses.create({ ...options, input })
        assert.match(text, /The tool answered: closed/)
      }
    })
  }
})
