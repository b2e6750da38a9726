import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { startPairs, upstreamKinds } from './scene.ts'

const weather = { city: 'Rome' }
const schema = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const callText = 'Please call weather {"city":"Rome"}'

/** What every client reports about a response, in any dialect. */
type Report = {
  text: string
  calls: { name: string; input: unknown }[]
  stop: string
  usage: { input: number; output: number }
}

describe('every dialect over every kind of upstream', () => {
  let scene: Awaited<ReturnType<typeof startPairs>>
  let anthropic: Anthropic
  let openai: OpenAI
  before(async () => {
    scene = await startPairs()
    anthropic = new Anthropic({ baseURL: scene.near.url, apiKey: scene.near.apiKey, maxRetries: 0 })
    openai = new OpenAI({ baseURL: `${scene.near.url}/v1`, apiKey: scene.near.apiKey, maxRetries: 0 })
  })
  after(() => scene[Symbol.asyncDispose]())

  for (const model of upstreamKinds) {
    describe(`messages over ${model}`, () => {
      const tools = [{ name: 'weather', description: 'The weather.', input_schema: schema }]
      const reportOf = (message: Anthropic.Message): Report => ({
        text: message.content.flatMap((block) => (block.type === 'text' ? block.text : [])).join(''),
        calls: message.content.flatMap((block) =>
          block.type === 'tool_use' ? { name: block.name, input: block.input } : [],
        ),
        stop: message.stop_reason ?? '',
        usage: { input: message.usage.input_tokens, output: message.usage.output_tokens },
      })
      const send = async (
        body: Omit<Anthropic.MessageCreateParamsNonStreaming, 'model' | 'max_tokens'> & { max_tokens?: number },
      ): Promise<Report> => {
        const params = { model, max_tokens: 4000, ...body }
        const whole = reportOf(await anthropic.messages.create(params))
        const streamed = reportOf(await anthropic.messages.stream(params).finalMessage())
        assert.deepEqual(streamed, whole)
        return whole
      }
      it('returns text', async () => {
        const { text, stop, usage } = await send({ messages: [{ role: 'user', content: 'Hello' }] })
        assert.match(text, /You said: Hello/)
        assert.equal(stop, 'end_turn')
        assert.ok(usage.input > 0 && usage.output > 0)
      })
      it('calls a tool and accepts its result', async () => {
        const first = await anthropic.messages.create({
          model,
          max_tokens: 400,
          tools,
          messages: [{ role: 'user', content: callText }],
        })
        assert.deepEqual(reportOf(first).calls, [{ name: 'weather', input: weather }])
        assert.equal(first.stop_reason, 'tool_use')
        const [call] = first.content.filter((block) => block.type === 'tool_use')
        const second = await send({
          tools,
          messages: [
            { role: 'user', content: callText },
            { role: 'assistant', content: first.content },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: 'sunny' }] },
          ],
        })
        assert.match(second.text, /The tool answered: sunny/)
      })
      it('calls a tool in a stream', async () => {
        const { calls, stop } = await send({ tools, messages: [{ role: 'user', content: callText }] })
        assert.deepEqual([calls, stop], [[{ name: 'weather', input: weather }], 'tool_use'])
      })
      it('returns thinking, and accepts it back', async () => {
        const params = { model, max_tokens: 4000, thinking: { type: 'enabled' as const, budget_tokens: 1024 } }
        const first = await anthropic.messages.create({ ...params, messages: [{ role: 'user', content: 'Think' }] })
        assert.equal(first.content[0]?.type, 'thinking')
        const second = await anthropic.messages
          .stream({
            ...params,
            messages: [
              { role: 'user', content: 'Think' },
              { role: 'assistant', content: first.content },
              { role: 'user', content: 'Again' },
            ],
          })
          .finalMessage()
        assert.match(reportOf(second).text, /You said: Again/)
      })
      it('stops at the token limit', async () => {
        assert.equal(
          (await send({ max_tokens: 16, messages: [{ role: 'user', content: 'word '.repeat(200) }] })).stop,
          'max_tokens',
        )
      })
      it('stops at a stop sequence', async () => {
        const { text } = await send({
          stop_sequences: ['END'],
          messages: [{ role: 'user', content: 'before END after' }],
        })
        assert.match(text, /before $/)
      })
      it('returns a refusal', async () => {
        const { stop } = await send({ messages: [{ role: 'user', content: 'please refuse' }] })
        assert.ok(['refusal', 'end_turn'].includes(stop))
      })
      it('returns JSON that fits a schema', async () => {
        const { text } = await send({
          messages: [{ role: 'user', content: 'JSON' }],
          output_config: { format: { type: 'json_schema', schema } },
        })
        assert.deepEqual(Object.keys(JSON.parse(text)), ['city'])
      })
    })

    describe(`responses over ${model}`, () => {
      const tools: OpenAI.Responses.FunctionTool[] = [
        { type: 'function', name: 'weather', description: 'The weather.', parameters: schema, strict: true },
      ]
      const reportOf = (response: OpenAI.Responses.Response): Report => ({
        text: response.output_text,
        calls: response.output.flatMap((item) =>
          item.type === 'function_call' ? { name: item.name, input: JSON.parse(item.arguments) } : [],
        ),
        stop: response.incomplete_details?.reason ?? response.status ?? '',
        usage: { input: response.usage?.input_tokens ?? 0, output: response.usage?.output_tokens ?? 0 },
      })
      const send = async (body: OpenAI.Responses.ResponseCreateParamsNonStreaming): Promise<Report> => {
        const whole = reportOf(await openai.responses.create({ model, ...body }))
        const streamed = reportOf(await openai.responses.stream({ model, ...body } as never).finalResponse())
        assert.deepEqual(streamed, whole)
        return whole
      }
      it('returns text', async () => {
        const { text, stop, usage } = await send({ input: 'Hello' })
        assert.match(text, /You said: Hello/)
        assert.equal(stop, 'completed')
        assert.ok(usage.input > 0 && usage.output > 0)
      })
      it('calls a tool and accepts its result, by reference to the previous turn', async () => {
        const { calls } = await send({ tools, input: callText })
        assert.deepEqual(calls, [{ name: 'weather', input: weather }])
        const first = await openai.responses.create({ model, tools, input: callText })
        const [call] = first.output.filter((item) => item.type === 'function_call')
        const output = [{ type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: 'sunny' }]
        const second = await openai.responses.create({ model, tools, input: output, previous_response_id: first.id })
        assert.match(second.output_text, /The tool answered: sunny/)
      })
      it('returns reasoning, and accepts it back', async () => {
        const reasoning = { effort: 'low' as const, summary: 'auto' as const }
        const include = ['reasoning.encrypted_content' as const]
        const first = await openai.responses.create({ model, reasoning, include, store: false, input: 'Think' })
        assert.equal(first.output[0]?.type, 'reasoning')
        const input = [
          { role: 'user' as const, content: 'Think' },
          ...first.output,
          { role: 'user' as const, content: 'Again' },
        ] as OpenAI.Responses.ResponseInput
        const second = await openai.responses.create({ model, reasoning, include, store: false, input })
        assert.match(second.output_text, /You said: Again/)
      })
      it('stops at the token limit', async () => {
        assert.equal((await send({ max_output_tokens: 16, input: 'word '.repeat(200) })).stop, 'max_output_tokens')
      })
      it('returns JSON that fits a schema', async () => {
        const { text } = await send({
          input: 'JSON',
          text: { format: { type: 'json_schema', name: 'place', schema, strict: true } },
        })
        assert.deepEqual(Object.keys(JSON.parse(text)), ['city'])
      })
    })

    describe(`chat over ${model}`, () => {
      const tools: OpenAI.ChatCompletionFunctionTool[] = [
        { type: 'function', function: { name: 'weather', description: 'The weather.', parameters: schema } },
      ]
      const reportOf = (completion: OpenAI.ChatCompletion): Report => {
        const [choice] = completion.choices
        return {
          text: choice?.message.content ?? '',
          calls: (choice?.message.tool_calls ?? []).flatMap((call) =>
            call.type === 'function' ? { name: call.function.name, input: JSON.parse(call.function.arguments) } : [],
          ),
          stop: choice?.finish_reason ?? '',
          usage: { input: completion.usage?.prompt_tokens ?? 0, output: completion.usage?.completion_tokens ?? 0 },
        }
      }
      const send = async (body: Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'model'>): Promise<Report> => {
        const whole = reportOf(await openai.chat.completions.create({ model, ...body }))
        const streamed = reportOf(
          await openai.chat.completions
            .stream({ model, ...body, stream_options: { include_usage: true } } as never)
            .finalChatCompletion(),
        )
        assert.deepEqual(streamed, whole)
        return whole
      }
      it('returns text', async () => {
        const { text, stop, usage } = await send({ messages: [{ role: 'user', content: 'Hello' }] })
        assert.match(text, /You said: Hello/)
        assert.equal(stop, 'stop')
        assert.ok(usage.input > 0 && usage.output > 0)
      })
      it('calls a tool and accepts its result', async () => {
        const { calls, stop } = await send({ tools, messages: [{ role: 'user', content: callText }] })
        assert.deepEqual([calls, stop], [[{ name: 'weather', input: weather }], 'tool_calls'])
        const first = await openai.chat.completions.create({
          model,
          tools,
          messages: [{ role: 'user', content: callText }],
        })
        const message = first.choices[0]?.message
        assert.ok(message)
        const second = await send({
          tools,
          messages: [
            { role: 'user', content: callText },
            message,
            { role: 'tool', tool_call_id: message.tool_calls?.[0]?.id ?? '', content: 'sunny' },
          ],
        })
        assert.match(second.text, /The tool answered: sunny/)
      })
      it('stops at the token limit', async () => {
        assert.equal(
          (await send({ max_completion_tokens: 16, messages: [{ role: 'user', content: 'word '.repeat(200) }] })).stop,
          'length',
        )
      })
      it('stops at a stop sequence', async () => {
        assert.match(
          (await send({ stop: ['END'], messages: [{ role: 'user', content: 'before END after' }] })).text,
          /before $/,
        )
      })
      it('returns JSON that fits a schema', async () => {
        const response_format = { type: 'json_schema' as const, json_schema: { name: 'place', schema, strict: true } }
        assert.deepEqual(
          Object.keys(
            JSON.parse((await send({ response_format, messages: [{ role: 'user', content: 'JSON' }] })).text),
          ),
          ['city'],
        )
      })
    })
  }
})
