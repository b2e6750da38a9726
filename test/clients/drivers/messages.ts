import type Anthropic from '@anthropic-ai/sdk'
import {
  maxTurns,
  modes,
  type ClientRequest,
  type Client,
  type Connect,
  type Mode,
  type ClientResult,
} from '../client.ts'

type Message = Pick<Anthropic.Message, 'content' | 'stop_reason'> & { readonly outputTokens: number }

/** The official Anthropic client on `/v1/messages`, in each of its ways to read a response. */
export const messagesClients = (name: string, connect: Connect<Anthropic>): Client[] =>
  modes.map((mode) => ({
    name: `${name}, messages, ${mode}`,
    dialect: 'messages',
    isStreaming: mode !== 'whole',
    showsThinking: true,
    onRefusal: 'tells',
    send(address, request) {
      const anthropic = connect(address)
      return converse(request, (messages) => turns[mode](anthropic, request, messages))
    },
  }))

async function converse(
  request: ClientRequest,
  turn: (messages: Anthropic.MessageParam[]) => Promise<Message>,
): Promise<ClientResult> {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: request.text }]
  for (let count = 1; count <= maxTurns; count++) {
    const message = await turn(messages)
    const calls = message.content.filter((block) => block.type === 'tool_use')
    const { tool } = request
    if (tool === undefined || calls.length === 0) return resultOf(message)
    const results = calls.map(({ id, input }) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: tool.run(input),
    }))
    messages.push({ role: 'assistant', content: message.content }, { role: 'user', content: results })
  }
  throw new Error('The tool was called again and again.')
}

export const resultOf = ({ content, stop_reason, outputTokens }: Message): ClientResult => ({
  text: content.flatMap((block) => (block.type === 'text' ? block.text : [])).join(''),
  thinking: content.flatMap((block) => (block.type === 'thinking' ? block.thinking : [])).join(''),
  calls: content.flatMap((block) => (block.type === 'tool_use' ? { name: block.name, input: block.input } : [])),
  isRefusal: stop_reason === 'refusal',
  outputTokens,
})

const turns: Record<
  Mode,
  (anthropic: Anthropic, request: ClientRequest, messages: Anthropic.MessageParam[]) => Promise<Message>
> = {
  async whole(anthropic, request, messages) {
    const { content, stop_reason, usage } = await anthropic.messages.create(
      bodyOf(request, messages),
      optionsOf(request),
    )
    return { content, stop_reason, outputTokens: usage.output_tokens }
  },
  async 'raw stream'(anthropic, request, messages) {
    const stream = await anthropic.messages.create({ ...bodyOf(request, messages), stream: true }, optionsOf(request))
    return fold(stream, request)
  },
  async 'stream helper'(anthropic, request, messages) {
    const stream = anthropic.messages.stream(bodyOf(request, messages), optionsOf(request))
    stream.on('text', () => request.onText?.())
    const { content, stop_reason, usage } = await stream.finalMessage()
    return { content, stop_reason, outputTokens: usage.output_tokens }
  },
}

export const optionsOf = ({ signal }: ClientRequest) => (signal === undefined ? {} : { signal })

export const bodyOf = ({ model, tool, wantsThinking }: ClientRequest, messages: Anthropic.MessageParam[]) => ({
  model,
  max_tokens: 4000,
  messages,
  ...(wantsThinking === true && { thinking: { type: 'enabled' as const, budget_tokens: 1024 } }),
  ...(tool && { tools: [{ name: tool.name, description: tool.description, input_schema: tool.schema }] }),
})

/** Without the stream helper, as many applications do. */
async function fold(stream: AsyncIterable<Anthropic.RawMessageStreamEvent>, request: ClientRequest): Promise<Message> {
  const blocks: Block[] = []
  let stop: Message['stop_reason'] = null
  let outputTokens = 0
  for await (const event of stream) {
    if (event.type === 'content_block_start') blocks[event.index] = { ...event.content_block, json: '' }
    if (event.type === 'content_block_delta') addDelta(blocks[event.index], event.delta)
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') request.onText?.()
    if (event.type !== 'message_delta') continue
    stop = event.delta.stop_reason
    outputTokens = event.usage.output_tokens
  }
  return { content: blocks.map(finish), stop_reason: stop, outputTokens }
}

type Block = Anthropic.ContentBlock & { json: string }

function addDelta(block: Block | undefined, delta: Anthropic.RawContentBlockDelta): void {
  if (block === undefined) throw new Error('A delta came for a block that was never opened.')
  if (block.type === 'text' && delta.type === 'text_delta') block.text += delta.text
  else if (block.type === 'thinking' && delta.type === 'thinking_delta') block.thinking += delta.thinking
  else if (block.type === 'thinking' && delta.type === 'signature_delta') block.signature += delta.signature
  else if (block.type === 'tool_use' && delta.type === 'input_json_delta') block.json += delta.partial_json
  else throw new Error(`A ${delta.type} came for a block of type ${block.type}.`)
}

const finish = ({ json, ...block }: Block): Anthropic.ContentBlock =>
  block.type === 'tool_use' ? { ...block, input: JSON.parse(json === '' ? '{}' : json) as unknown } : block
