import type { ServerResponse } from 'node:http'
import type { Script } from './upstream.ts'

/** The kinds of upstream that are reached over the network. */
export const kinds = ['anthropic', 'openai-chat', 'openai-responses'] as const
export type Kind = (typeof kinds)[number]

type Frames = {
  readonly first: string
  readonly delta: (text: string) => string
  readonly whole: (text: string) => object
}

const named = (body: { readonly type: string }): string => `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`
const chat = (delta: object): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: null, stop_sequence: null }
const item = { id: 'item_1', type: 'message', role: 'assistant' }
const part = (text: string) => ({ type: 'output_text', text, annotations: [] })
const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'in_progress', output: [] }
const place = { item_id: 'item_1', output_index: 0, content_index: 0 }

export const framesFor: Readonly<Record<Kind, Frames>> = {
  anthropic: {
    first:
      named({
        type: 'message_start',
        message: { ...message, content: [], usage: { input_tokens: 9, output_tokens: 1 } },
      } as never) +
      named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as never),
    delta: (text) => named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } } as never),
    whole: (text) => ({ ...message, stop_reason: 'end_turn', content: [{ type: 'text', text }] }),
  },
  'openai-chat': {
    first: chat({ role: 'assistant', content: '' }),
    delta: (content) => chat({ content }),
    whole: (content) => ({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    }),
  },
  'openai-responses': {
    first:
      named({ type: 'response.created', response } as never) +
      named({
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...item, status: 'in_progress', content: [] },
      } as never) +
      named({ type: 'response.content_part.added', ...place, part: part('') } as never),
    delta: (delta) => named({ type: 'response.output_text.delta', ...place, delta } as never),
    whole: (text) => ({
      ...response,
      status: 'completed',
      output: [{ ...item, status: 'completed', content: [part(text)] }],
    }),
  },
}

/** Streams small frames until the caller hangs up. It reports no usage. */
export const endlessStream =
  (kind: Kind, text: string): Script =>
  async (reply) => {
    const { first, delta } = framesFor[kind]
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    await write(reply, first)
    const frames = delta(text).repeat(100)
    while (!reply.destroyed) await write(reply, frames)
  }

/** Answers with one document that has this text. It reports no usage. */
export const wholeAnswer =
  (kind: Kind, text: string): Script =>
  (reply) => {
    reply.writeHead(200, { 'content-type': 'application/json' })
    reply.end(JSON.stringify(framesFor[kind].whole(text)))
  }

/** Leaves the event loop to the reader before the next write. */
const write = (reply: ServerResponse, text: string): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => void setImmediate(resolve)
    if (reply.write(text)) return done()
    reply.once('drain', done)
    reply.once('close', done)
  })
