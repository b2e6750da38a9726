import type Anthropic from '@anthropic-ai/sdk'
import { maxTurns, modes, type Asked, type Client, type Connect, type Mode, type Told } from '../client.ts'

type Message = Pick<Anthropic.Message, 'content' | 'stop_reason'> & { readonly outputTokens: number }

/** The official Anthropic client on `/v1/messages`, in each of its ways to read a response. */
export const messagesClients = (name: string, connect: Connect<Anthropic>): Client[] =>
  modes.map((mode) => ({
    name: `${name}, messages, ${mode}`,
    dialect: 'messages',
    isStreaming: mode !== 'whole',
    showsThinking: true,
    onRefusal: 'tells',
    ask(address, asked) {
      const anthropic = connect(address)
      return converse(asked, (messages) => turns[mode](anthropic, asked, messages))
    },
  }))

async function converse(asked: Asked, turn: (messages: Anthropic.MessageParam[]) => Promise<Message>): Promise<Told> {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: asked.text }]
  for (let count = 1; count <= maxTurns; count++) {
    const message = await turn(messages)
    const calls = message.content.filter((block) => block.type === 'tool_use')
    const { tool } = asked
    if (tool === undefined || calls.length === 0) return toldOf(message)
    const results = calls.map(({ id, input }) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: tool.run(input),
    }))
    messages.push({ role: 'assistant', content: message.content }, { role: 'user', content: results })
  }
  throw new Error('The tool was called again and again.')
}

const toldOf = ({ content, stop_reason, outputTokens }: Message): Told => ({
  text: content.flatMap((block) => (block.type === 'text' ? block.text : [])).join(''),
  thinking: content.flatMap((block) => (block.type === 'thinking' ? block.thinking : [])).join(''),
  calls: content.flatMap((block) => (block.type === 'tool_use' ? { name: block.name, input: block.input } : [])),
  isRefusal: stop_reason === 'refusal',
  outputTokens,
})

const turns: Record<
  Mode,
  (anthropic: Anthropic, asked: Asked, messages: Anthropic.MessageParam[]) => Promise<Message>
> = {
  async whole(anthropic, asked, messages) {
    const { content, stop_reason, usage } = await anthropic.messages.create(bodyOf(asked, messages), optionsOf(asked))
    return { content, stop_reason, outputTokens: usage.output_tokens }
  },
  async 'raw stream'(anthropic, asked, messages) {
    const stream = await anthropic.messages.create({ ...bodyOf(asked, messages), stream: true }, optionsOf(asked))
    return fold(stream, asked)
  },
  async 'stream helper'(anthropic, asked, messages) {
    const stream = anthropic.messages.stream(bodyOf(asked, messages), optionsOf(asked))
    stream.on('text', () => asked.onText?.())
    const { content, stop_reason, usage } = await stream.finalMessage()
    return { content, stop_reason, outputTokens: usage.output_tokens }
  },
}

const optionsOf = ({ signal }: Asked) => (signal === undefined ? {} : { signal })

const bodyOf = ({ model, tool, wantsThinking }: Asked, messages: Anthropic.MessageParam[]) => ({
  model,
  max_tokens: 4000,
  messages,
  ...(wantsThinking === true && { thinking: { type: 'enabled' as const, budget_tokens: 1024 } }),
  ...(tool && { tools: [{ name: tool.name, description: tool.description, input_schema: tool.schema }] }),
})

/** Without the stream helper, as many applications do. */
async function fold(stream: AsyncIterable<Anthropic.RawMessageStreamEvent>, asked: Asked): Promise<Message> {
  const blocks: Block[] = []
  let stop: Message['stop_reason'] = null
  let outputTokens = 0
  for await (const event of stream) {
    if (event.type === 'content_block_start') blocks[event.index] = { ...event.content_block, json: '' }
    if (event.type === 'content_block_delta') addDelta(blocks[event.index], event.delta)
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') asked.onText?.()
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
