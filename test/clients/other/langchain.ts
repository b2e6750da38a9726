import { ChatAnthropic } from '@langchain/anthropic'
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import type { AIMessageChunk, BaseMessage, UsageMetadata } from '@langchain/core/messages'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { maxTurns, type Address, type ClientRequest, type Client, type ClientResult } from '../client.ts'

type Maker = Pick<Client, 'name' | 'dialect'> & { model(address: Address, asked: ClientRequest): BaseChatModel }

/** LangChain derives from the model name whether it can reason, and does not know these names, so the body sets it. */
const makers: readonly Maker[] = [
  {
    name: 'LangChain, ChatOpenAI',
    dialect: 'chat',
    model: ({ url, apiKey }, { model, wantsThinking }) =>
      new ChatOpenAI({
        model,
        apiKey,
        maxRetries: 0,
        useResponsesApi: false,
        configuration: { baseURL: `${url}/v1` },
        ...(wantsThinking === true && { modelKwargs: { reasoning_effort: 'high' } }),
      }),
  },
  {
    name: 'LangChain, ChatOpenAI with useResponsesApi',
    dialect: 'responses',
    model: ({ url, apiKey }, { model, wantsThinking }) =>
      new ChatOpenAI({
        model,
        apiKey,
        maxRetries: 0,
        useResponsesApi: true,
        configuration: { baseURL: `${url}/v1` },
        ...(wantsThinking === true && { modelKwargs: { reasoning: { effort: 'high', summary: 'auto' } } }),
      }),
  },
  {
    name: 'LangChain, ChatAnthropic',
    dialect: 'messages',
    model: ({ url, apiKey }, { model, wantsThinking }) =>
      new ChatAnthropic({
        model,
        apiKey,
        maxRetries: 0,
        maxTokens: 4000,
        anthropicApiUrl: url,
        ...(wantsThinking === true && { thinking: { type: 'enabled' as const, budget_tokens: 1024 } }),
      }),
  },
]

/** LangChain with each of its models for the gateway's dialects. */
export const langchainClients: readonly Client[] = makers.flatMap((maker) =>
  (['invoke', 'stream'] as const).map((way) => ({
    ...maker,
    name: `${maker.name}, ${way}`,
    isStreaming: way === 'stream',
    showsThinking: true,
    // In chat it reads the text of a message and ignores the refusal.
    onRefusal: maker.dialect === 'chat' ? 'hides' : 'tells',
    send: (address, asked) => converse(maker.model(address, asked), asked, way),
  })),
)

async function converse(model: BaseChatModel, asked: ClientRequest, way: 'invoke' | 'stream'): Promise<ClientResult> {
  const bound = asked.tool === undefined ? model : (model.bindTools?.([toolOf(asked.tool)]) ?? model)
  const options = asked.signal === undefined ? {} : { signal: asked.signal }
  const messages: BaseMessage[] = [new HumanMessage(asked.text)]
  for (let count = 1; count <= maxTurns; count++) {
    const answer =
      way === 'invoke'
        ? await bound.invoke(messages, options)
        : await join(await bound.stream(messages, options), asked)
    if (!asked.tool || !answer.tool_calls?.length) return toldOf(answer)
    messages.push(answer)
    for (const { id = '', args } of answer.tool_calls) {
      messages.push(new ToolMessage({ tool_call_id: id, content: asked.tool.run(args) }))
    }
  }
  throw new Error('The tool was called again and again.')
}

const toolOf = ({ name, description, schema, run }: NonNullable<ClientRequest['tool']>) =>
  tool((input: unknown) => run(input), { name, description, schema })

async function join(chunks: AsyncIterable<AIMessageChunk>, { onText }: ClientRequest): Promise<AIMessageChunk> {
  let whole: AIMessageChunk | undefined
  for await (const chunk of chunks) {
    whole = whole === undefined ? chunk : whole.concat(chunk)
    if (chunk.text !== '') onText?.()
  }
  if (whole === undefined) throw new Error('The stream was empty.')
  return whole
}

/** The stop reason by dialect. LangChain does not type these fields. */
const endings = (answer: AIMessageChunk): unknown[] => {
  const { additional_kwargs: extra, response_metadata: about } = answer
  const cut: unknown = about['incomplete_details']
  const reason: unknown = typeof cut === 'object' && cut !== null ? Reflect.get(cut, 'reason') : undefined
  return [about['stop_reason'], about['finish_reason'], extra['stop_reason'], reason]
}

function toldOf(answer: AIMessageChunk): ClientResult {
  const reasoning: unknown = answer.additional_kwargs['reasoning_content']
  const blocks = answer.contentBlocks.flatMap((block) => (block.type === 'reasoning' ? block.reasoning : []))
  const isRefusal = endings(answer).some((ending) => ending === 'refusal' || ending === 'content_filter')
  return {
    text: answer.text,
    thinking: typeof reasoning === 'string' ? reasoning : blocks.join(''),
    calls: (answer.tool_calls ?? []).map(({ name, args }) => ({ name, input: args })),
    isRefusal: isRefusal || Boolean(answer.additional_kwargs['refusal']),
    outputTokens: outputTokensOf(answer.usage_metadata),
  }
}

const outputTokensOf = (usage: UsageMetadata | undefined): number => usage?.output_tokens ?? 0
