import { createServer, type Socket } from 'node:net'

/**
 * A minimal upstream: raw sockets and fixed responses in the format of the path. `node upstream.ts PORT`. A body with
 * "stream":true gets fifty server-sent events at once; five hundred if the prompt contains "Answer at length", and one every 50 ms
 * if it requests a slow response.
 */
const words = 'The quick brown fox jumps over the lazy dog and runs on. '.repeat(10)
const paceMs = 50

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

/** Each chunk is one word of the text. */
const wordsOf = (count: number): string[] => {
  const all = words.match(/\S+ /g) ?? []
  return Array.from({ length: count }, (_, at) => all[at % all.length] ?? '')
}

const chatStream = (count: number): string[] => [
  chatChunk({ role: 'assistant', content: '' }, null),
  ...wordsOf(count).map((content) => chatChunk({ content }, null)),
  chatChunk({}, 'stop'),
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: { prompt_tokens: 250, completion_tokens: count, total_tokens: 250 + count } })}\n\n`,
  'data: [DONE]\n\n',
]
const messagesStream = (count: number): string[] => [
  event('message_start', {
    message: {
      ...JSON.parse(messagesAnswer),
      content: [],
      stop_reason: null,
      usage: { input_tokens: 250, output_tokens: 0 },
    },
  }),
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  ...wordsOf(count).map((text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
  event('content_block_stop', { index: 0 }),
  event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: count } }),
  event('message_stop', {}),
]

const json = (body: string): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

/** A stream as it is written: headers, chunks and end. */
const sse = (frames: readonly string[]): Buffer[] =>
  [
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
    ...frames.map((frame) => `${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`),
    '0\r\n\r\n',
  ].map((text) => Buffer.from(text))

/** Events before the first word and after the last one are sent without delay. */
const paced = (parts: readonly Buffer[]): Buffer[] => [
  Buffer.concat(parts.slice(0, 2)),
  ...parts.slice(2, -4),
  Buffer.concat(parts.slice(-4)),
]

const answersOf = (whole: string, stream: (count: number) => string[]) => ({
  whole: Buffer.from(json(whole)),
  slow: paced(sse(stream(50))),
  stream: Buffer.concat(sse(stream(50))),
  long: Buffer.concat(sse(stream(500))),
})
const answers = { chat: answersOf(chatAnswer, chatStream), messages: answersOf(messagesAnswer, messagesStream) }

function answer(socket: Socket, request: string): void {
  const { whole, slow, stream, long } = request.slice(0, 200).includes('chat/completions')
    ? answers.chat
    : answers.messages
  if (!request.includes('"stream":true')) socket.write(whole)
  else if (request.includes('Answer slowly')) writeSlowly(socket, slow.values())
  else socket.write(request.includes('Answer at length') ? long : stream)
}

function writeSlowly(socket: Socket, chunks: Iterator<Buffer>): void {
  const timer = setInterval(() => {
    const next = chunks.next()
    if (next.done === true || socket.destroyed) clearInterval(timer)
    else socket.write(next.value)
  }, paceMs)
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
      answer(socket, request)
    }
  })
}

createServer(serve).listen(Number(process.argv[2]), '127.0.0.1', () => process.stdout.write('ready\n'))
