import type OpenAI from 'openai'
import {
  maxTurns,
  modes,
  type ClientRequest,
  type Client,
  type Connect,
  type Mode,
  type ClientResult,
} from '../client.ts'

type Message = OpenAI.ChatCompletionMessageParam

/** One response, assembled from any form. `reasoning_content` is an extension that OpenAI's types lack. */
type Answer = {
  content: string
  refusal: string
  reasoning: string
  calls: { id: string; name: string; arguments: string }[]
  finishReason: string
  outputTokens: number
}

/** The official OpenAI client on `/v1/chat/completions`, in each of its ways to read a response. */
export const chatClients = (name: string, connect: Connect<OpenAI>): Client[] =>
  modes.map((mode) => ({
    name: `${name}, chat, ${mode}`,
    dialect: 'chat',
    isStreaming: mode !== 'whole',
    // The helper keeps only the last delta of an unknown field.
    showsThinking: mode !== 'stream helper',
    onRefusal: 'tells',
    send(address, request) {
      const openai = connect(address)
      return converse(request, (messages) => turns[mode](openai, request, messages))
    },
  }))

async function converse(request: ClientRequest, turn: (messages: Message[]) => Promise<Answer>): Promise<ClientResult> {
  const messages: Message[] = [{ role: 'user', content: request.text }]
  for (let count = 1; count <= maxTurns; count++) {
    const answer = await turn(messages)
    if (request.tool === undefined || answer.calls.length === 0) return resultOf(answer)
    messages.push({ role: 'assistant', content: answer.content, tool_calls: answer.calls.map(toolCallOf) })
    for (const call of answer.calls) {
      messages.push({ role: 'tool', tool_call_id: call.id, content: request.tool.run(JSON.parse(call.arguments)) })
    }
  }
  throw new Error('The tool was called again and again.')
}

const toolCallOf = ({ id, ...call }: Answer['calls'][number]): OpenAI.ChatCompletionMessageToolCall => ({
  id,
  type: 'function',
  function: call,
})

export const resultOf = (answer: Answer): ClientResult => ({
  text: answer.content,
  thinking: answer.reasoning,
  calls: answer.calls.map((call) => ({ name: call.name, input: JSON.parse(call.arguments) })),
  isRefusal: answer.refusal !== '' || answer.finishReason === 'content_filter',
  outputTokens: answer.outputTokens,
})

const turns: Record<Mode, (openai: OpenAI, request: ClientRequest, messages: Message[]) => Promise<Answer>> = {
  async whole(openai, request, messages) {
    return answerOf(await openai.chat.completions.create(bodyOf(request, messages), optionsOf(request)))
  },
  async 'raw stream'(openai, request, messages) {
    const body = { ...bodyOf(request, messages), stream: true as const, stream_options: { include_usage: true } }
    const answer: Answer = { content: '', refusal: '', reasoning: '', calls: [], finishReason: '', outputTokens: 0 }
    for await (const chunk of await openai.chat.completions.create(body, optionsOf(request))) {
      addChunk(answer, chunk)
      if (chunk.choices[0]?.delta.content) request.onText?.()
    }
    return answer
  },
  async 'stream helper'(openai, request, messages) {
    const body = { ...bodyOf(request, messages), stream: true as const, stream_options: { include_usage: true } }
    const stream = openai.chat.completions.stream(body, optionsOf(request))
    stream.on('content', () => request.onText?.())
    return answerOf(await stream.finalChatCompletion())
  },
}

export const optionsOf = ({ signal }: ClientRequest) => (signal === undefined ? {} : { signal })

export const bodyOf = ({ model, tool, wantsThinking }: ClientRequest, messages: Message[]) => ({
  model,
  messages,
  ...(wantsThinking === true && { reasoning_effort: 'high' as const }),
  ...(tool && {
    tools: [
      {
        type: 'function' as const,
        function: { name: tool.name, description: tool.description, parameters: tool.schema },
      },
    ],
  }),
})

export function answerOf(completion: OpenAI.ChatCompletion): Answer {
  const [choice] = completion.choices
  if (choice === undefined) throw new Error('The completion has no choice.')
  return {
    content: choice.message.content ?? '',
    refusal: choice.message.refusal ?? '',
    reasoning: reasoningOf(choice.message),
    calls: (choice.message.tool_calls ?? []).flatMap((call) =>
      call.type === 'function' ? { id: call.id, ...call.function } : [],
    ),
    finishReason: choice.finish_reason,
    outputTokens: completion.usage?.completion_tokens ?? 0,
  }
}

/** Without the stream helper, as many applications do. */
function addChunk(answer: Answer, chunk: OpenAI.ChatCompletionChunk): void {
  answer.outputTokens = chunk.usage?.completion_tokens ?? answer.outputTokens
  const [choice] = chunk.choices
  if (choice === undefined) return
  answer.content += choice.delta.content ?? ''
  answer.refusal += choice.delta.refusal ?? ''
  answer.reasoning += reasoningOf(choice.delta)
  answer.finishReason = choice.finish_reason ?? answer.finishReason
  for (const { index, id = '', function: part } of choice.delta.tool_calls ?? []) {
    const call = (answer.calls[index] ??= { id: '', name: '', arguments: '' })
    call.id += id
    call.name += part?.name ?? ''
    call.arguments += part?.arguments ?? ''
  }
}

const reasoningOf = (holder: object): string => {
  const reasoning: unknown = Reflect.get(holder, 'reasoning_content')
  return typeof reasoning === 'string' ? reasoning : ''
}
