import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, isStepCount, jsonSchema, streamText, tool, type LanguageModel } from 'ai'
import { maxTurns, type Address, type ClientRequest, type Client, type ClientResult } from '../client.ts'

/** A provider of the AI SDK, and its option for thinking. */
type Provider = Pick<Client, 'name' | 'dialect' | 'showsThinking' | 'onRefusal'> & {
  model(address: Address, name: string): LanguageModel
  readonly thinking: {
    [provider: string]: { [option: string]: string | boolean | { [option: string]: string | number } }
  }
}

// The provider guesses by the model's name whether it can reason, and does not know the gateway's models.
const openaiThinking = { openai: { reasoningEffort: 'high', reasoningSummary: 'auto', forceReasoning: true } }

/** The providers for the gateway's dialects. */
export const providers: readonly Provider[] = [
  {
    name: 'AI SDK, openai',
    dialect: 'responses',
    showsThinking: true,
    onRefusal: 'tells',
    model: ({ url, apiKey }, name) => createOpenAI({ baseURL: `${url}/v1`, apiKey })(name),
    thinking: openaiThinking,
  },
  {
    name: 'AI SDK, openai.chat',
    dialect: 'chat',
    showsThinking: false,
    onRefusal: 'tells',
    model: ({ url, apiKey }, name) => createOpenAI({ baseURL: `${url}/v1`, apiKey }).chat(name),
    thinking: openaiThinking,
  },
  {
    name: 'AI SDK, openai-compatible',
    dialect: 'chat',
    showsThinking: true,
    onRefusal: 'tells',
    model: ({ url, apiKey }, name) =>
      createOpenAICompatible({
        name: 'gatehouse',
        baseURL: `${url}/v1`,
        apiKey,
        includeUsage: true,
        supportsStructuredOutputs: true,
      })(name),
    thinking: { gatehouse: { reasoningEffort: 'high' } },
  },
  {
    name: 'AI SDK, anthropic',
    dialect: 'messages',
    showsThinking: true,
    onRefusal: 'tells',
    model: ({ url, apiKey }, name) => createAnthropic({ baseURL: `${url}/v1`, apiKey })(name),
    thinking: { anthropic: { thinking: { type: 'enabled', budgetTokens: 1024 } } },
  },
]

/** The Vercel AI SDK with each provider for the gateway's dialects. It runs tools automatically. */
export const aiSdkClients: readonly Client[] = providers.flatMap((provider) => [
  {
    ...provider,
    name: `${provider.name}, generateText`,
    isStreaming: false,
    send: (address, asked) => generate(optionsOf(provider, address, asked)),
  },
  {
    ...provider,
    name: `${provider.name}, streamText`,
    isStreaming: true,
    send: (address, asked) => stream(optionsOf(provider, address, asked), asked),
  },
])

type Options = ReturnType<typeof optionsOf>

const optionsOf = (provider: Provider, address: Address, asked: ClientRequest) => ({
  model: provider.model(address, asked.model),
  prompt: asked.text,
  maxRetries: 0,
  stopWhen: isStepCount(maxTurns),
  tools: toolsOf(asked),
  ...(asked.wantsThinking === true && { providerOptions: provider.thinking }),
  ...(asked.signal && { abortSignal: asked.signal }),
})

function toolsOf({ tool: asked }: ClientRequest) {
  if (asked === undefined) return {}
  const { name, description, schema, run } = asked
  return { [name]: tool({ description, inputSchema: jsonSchema(schema), execute: async (input) => run(input) }) }
}

async function generate(options: Options): Promise<ClientResult> {
  const { text, finalStep, finishReason, usage } = await generateText(options)
  return {
    text,
    thinking: finalStep.reasoningText ?? '',
    calls: finalStep.toolCalls.map(({ toolName, input }) => ({ name: toolName, input })),
    isRefusal: finishReason === 'content-filter',
    outputTokens: usage.outputTokens ?? 0,
  }
}

async function stream(options: Options, { onText }: ClientRequest): Promise<ClientResult> {
  const result = streamText({ ...options, onError: () => undefined })
  for await (const part of result.stream) {
    if (part.type === 'text-delta') onText?.()
    if (part.type === 'error') throw part.error
  }
  const { text, reasoningText, toolCalls } = await result.finalStep
  return {
    text,
    thinking: reasoningText ?? '',
    calls: toolCalls.map(({ toolName, input }) => ({ name: toolName, input })),
    isRefusal: (await result.finishReason) === 'content-filter',
    outputTokens: (await result.usage).outputTokens ?? 0,
  }
}
