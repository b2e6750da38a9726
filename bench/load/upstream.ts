import { createServer, type Socket } from 'node:net'

/**
 * The cheapest upstream: raw sockets, fixed answers in the shape that the path asks for. `node upstream.ts PORT`.
 * A body with "stream":true gets fifty server-sent events in one go.
 */
const words = 'The quick brown fox jumps over the lazy dog and runs on. '.repeat(10)

const chatAnswer = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [
    { index: 0, message: { role: 'assistant', content: words, refusal: null }, logprobs: null, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 250, completion_tokens: 120, total_tokens: 370 },
})
const messagesAnswer = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: words }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 250, output_tokens: 120 },
})

const chatChunk = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const event = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`

const chatStream = [
  chatChunk({ role: 'assistant', content: '' }, null),
  ...Array.from({ length: 50 }, (_, at) => chatChunk({ content: `word${at} ` }, null)),
  chatChunk({}, 'stop'),
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: { prompt_tokens: 250, completion_tokens: 50, total_tokens: 300 } })}\n\n`,
  'data: [DONE]\n\n',
]
const messagesStream = [
  event('message_start', {
    message: {
      ...JSON.parse(messagesAnswer),
      content: [],
      stop_reason: null,
      usage: { input_tokens: 250, output_tokens: 0 },
    },
  }),
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ...Array.from({ length: 50 }, (_, at) =>
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: `word${at} ` } }),
  ),
  event('content_block_stop', { index: 0 }),
  event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 50 } }),
  event('message_stop', {}),
]

const json = (body: string): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
const sse = (frames: readonly string[]): string => {
  const chunks = frames.map((frame) => `${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`)
  return `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`
}
const answers = {
  chat: { whole: Buffer.from(json(chatAnswer)), stream: Buffer.from(sse(chatStream)) },
  messages: { whole: Buffer.from(json(messagesAnswer)), stream: Buffer.from(sse(messagesStream)) },
}

function serve(socket: Socket): void {
  let waiting = ''
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk) => {
    waiting += chunk.toString('latin1')
    for (;;) {
      const headEnd = waiting.indexOf('\r\n\r\n')
      if (headEnd < 0) return
      const length = Number(/content-length: (\d+)/i.exec(waiting.slice(0, headEnd))?.[1] ?? 0)
      if (waiting.length < headEnd + 4 + length) return
      const request = waiting.slice(0, headEnd + 4 + length)
      waiting = waiting.slice(request.length)
      const dialect = request.slice(0, 200).includes('chat/completions') ? answers.chat : answers.messages
      socket.write(request.includes('"stream":true') ? dialect.stream : dialect.whole)
    }
  })
}

createServer(serve).listen(Number(process.argv[2]), '127.0.0.1', () => process.stdout.write('ready\n'))
