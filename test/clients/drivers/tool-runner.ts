import type Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'
import { maxTurns, type Client, type ClientRequest, type ClientResult, type Connect } from '../client.ts'
import * as chat from './chat.ts'
import * as messages from './messages.ts'

/** The tool runner of the official Anthropic client, which sends its first request with a message thread. */
export const messagesToolRunners = (name: string, connect: Connect<Anthropic>): Client[] =>
  [false, true].map((isStreaming) => ({
    name: `${name}, messages, toolRunner${isStreaming ? ', stream' : ''}`,
    dialect: 'messages',
    isStreaming,
    showsThinking: true,
    onRefusal: 'tells',
    send: (address, request) =>
      isStreaming ? streamMessages(connect(address), request) : runMessages(connect(address), request),
  }))

async function runMessages(anthropic: Anthropic, request: ClientRequest): Promise<ClientResult> {
  const runner = anthropic.beta.messages.toolRunner(paramsOf(request), messages.optionsOf(request))
  return messageResult(await runner.runUntilDone())
}

async function streamMessages(anthropic: Anthropic, request: ClientRequest): Promise<ClientResult> {
  const params = { ...paramsOf(request), stream: true as const }
  const runner = anthropic.beta.messages.toolRunner(params, messages.optionsOf(request))
  for await (const stream of runner) stream.on('text', () => request.onText?.())
  return messageResult(await runner.done())
}

function paramsOf(request: ClientRequest) {
  const { tools = [], ...body } = messages.bodyOf(request, [{ role: 'user', content: request.text }])
  const run = async (input: unknown): Promise<string> => request.tool?.run(input) ?? ''
  return {
    ...body,
    max_iterations: maxTurns,
    tools: tools.map((tool) => ({ ...tool, run, parse: (input: unknown) => input })),
  }
}

/** The beta types have further blocks, which no upstream of the tests sends. */
const messageResult = ({ content, stop_reason, usage }: Anthropic.Beta.BetaMessage): ClientResult =>
  messages.resultOf({ content, stop_reason, outputTokens: usage.output_tokens } as Parameters<
    typeof messages.resultOf
  >[0])

/** `runTools` of the official OpenAI client. */
export const chatToolRunners = (name: string, connect: Connect<OpenAI>): Client[] =>
  [false, true].map((isStreaming) => ({
    name: `${name}, chat, runTools${isStreaming ? ', stream' : ''}`,
    dialect: 'chat',
    isStreaming,
    // The helper for streams keeps only the last delta of an unknown field.
    showsThinking: !isStreaming,
    // It throws on a filtered response.
    onRefusal: 'may raise',
    async send(address, request) {
      const openai = connect(address)
      const { tools = [], ...body } = chat.bodyOf(request, [{ role: 'user', content: request.text }])
      const runnable = tools.map((tool) => ({
        ...tool,
        function: { ...tool.function, parse: JSON.parse, function: (input: unknown) => request.tool?.run(input) ?? '' },
      }))
      const params = { ...body, tools: runnable }
      const options = { ...chat.optionsOf(request), maxChatCompletions: maxTurns }
      const usage = { stream: true as const, stream_options: { include_usage: true } }
      const runner = isStreaming
        ? openai.chat.completions.runTools({ ...params, ...usage }, options).on('content', () => request.onText?.())
        : openai.chat.completions.runTools(params, options)
      return chat.resultOf(chat.answerOf(await runner.finalChatCompletion()))
    },
  }))
