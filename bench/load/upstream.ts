import { createServer, type Socket } from 'node:net'
import { chatFormat, messagesFormat, wholeResponse, type AnswerFormat } from './answers.ts'
import { monotonicMs } from './monotonic.ts'
import { createTextWriter } from './text.ts'
import { answerCharacters, chunksPerAnswer, chunksPerSecond, readInstruction } from './workload.ts'

/**
 * A minimal upstream on raw sockets: `node upstream.ts PORT`. The prompt says how to answer (see workload.ts). For paced
 * answers it keeps the time at which it sent each chunk, and `GET /sent` returns and forgets them. It is also the collector
 * of traces, and discards them.
 */
const write = createTextWriter(process.pid)
const repeated = write(answerCharacters)

function answer(socket: Socket, request: string): void {
  if (request.startsWith('GET /sent')) return void socket.write(wholeResponse(takeSent()))
  if (request.startsWith('POST /v1/traces')) return void socket.write(wholeResponse('{}'))
  const format = request.slice(0, 200).includes('chat/completions') ? chatFormat : messagesFormat
  const { text, stream, number } = readInstruction(request)
  const words = (): string => (text === 'fresh' ? write(answerCharacters) : repeated)
  if (stream === undefined) socket.write(wholeResponse(format.whole(words())))
  else if (stream === 'burst') socket.write(burst(format, chunksOf(words())), 'latin1')
  else pace(socket, { format, number, chunks: chunksOf(words()) })
}

/** One word each, with the space before it, as tokenizers cut text. */
function chunksOf(text: string): string[] {
  const words = text.match(/ ?\S+/g) ?? []
  return Array.from({ length: chunksPerAnswer }, (_, at) => words[at] ?? ' more')
}

const streamHead = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const httpChunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

function burst(format: AnswerFormat, chunks: readonly string[]): string {
  let all = streamHead + httpChunk(format.beginning)
  for (const chunk of chunks) all += httpChunk(format.chunk(chunk))
  return `${all}${httpChunk(format.end(chunks.length))}0\r\n\r\n`
}

/** The end of each chunk in the text and the time at which it was sent. */
type SentChunk = readonly [endsAt: number, sentMs: number]

type PacedAnswer = { readonly format: AnswerFormat; readonly number: number; readonly chunks: readonly string[] }

const intervalMs = 1000 / chunksPerSecond
/** Answers by the millisecond of the interval in which they send, so that one timer serves all. */
const slots: (() => boolean)[][] = Array.from({ length: intervalMs }, () => [])
const sent = new Map<number, SentChunk[]>()
let nextTickMs = monotonicMs()
let tick = 0

function pace(socket: Socket, { format, number, chunks }: PacedAnswer): void {
  const times: SentChunk[] = []
  let characters = 0
  sent.set(number, times)
  socket.write(streamHead + httpChunk(format.beginning), 'latin1')
  slots[tick % intervalMs]?.push(() => {
    if (socket.destroyed) return false
    const chunk = chunks[times.length]
    if (chunk === undefined) {
      socket.write(`${httpChunk(format.end(chunks.length))}0\r\n\r\n`, 'latin1')
      return false
    }
    characters += chunk.length
    times.push([characters, monotonicMs()])
    socket.write(httpChunk(format.chunk(chunk)), 'latin1')
    return true
  })
}

setInterval(() => {
  for (; nextTickMs <= monotonicMs(); nextTickMs++, tick++) {
    const at = tick % intervalMs
    const due = slots[at] ?? []
    if (due.length > 0) slots[at] = due.filter((sendNext) => sendNext())
  }
}, 1)

function takeSent(): string {
  const all = JSON.stringify(Object.fromEntries(sent))
  sent.clear()
  return all
}

function serve(socket: Socket): void {
  let waiting = ''
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', (data) => {
    waiting += data.toString('latin1')
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
