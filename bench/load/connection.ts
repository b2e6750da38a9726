import { connect, type Socket } from 'node:net'
import type { BenchRequest } from './workload.ts'

export type Connection = { send(request: BenchRequest): void; close(): void }

export type ConnectionEvents = {
  /** Called when it is connected and after each answer. */
  readonly onIdle: () => void
  readonly onAnswer: (isOk: boolean) => void
  /** For paced answers: how many characters of the answer's text have arrived. */
  readonly onText?: (number: number, characters: number) => void
  readonly onClose: () => void
}

const marks = { chat: '"content":"', messages: '"text":"' }

/** One keep-alive connection of the load generator. It reads of an answer only what it needs to find its end. */
export function openConnection(port: number, dialect: keyof typeof marks, events: ConnectionEvents): Connection {
  const socket = connect(port, '127.0.0.1')
  let answer = createAnswer(0)

  function onData(data: Buffer): void {
    answer.read(data)
    if (events.onText !== undefined) events.onText(answer.number, answer.countText(data, marks[dialect]))
    if (!answer.isWhole()) return
    events.onAnswer(answer.isOk())
    events.onIdle()
  }
  socket.setNoDelay(true)
  socket.on('connect', events.onIdle)
  socket.on('data', onData)
  socket.on('error', () => events.onAnswer(false))
  socket.on('close', events.onClose)
  return {
    send({ number, bytes }) {
      answer = createAnswer(number)
      socket.write(bytes, 'latin1')
    },
    close: () => closeNow(socket),
  }
}

function closeNow(socket: Socket): void {
  socket.removeAllListeners('error').on('error', () => {})
  socket.destroy()
}

function createAnswer(number: number) {
  let head = ''
  /** Bytes of the body that are missing; undefined for a chunked body, whose end is its last five bytes. */
  let missing: number | undefined
  let hasHead = false
  let tail = ''
  let unread = ''
  let characters = 0

  function readHead(data: Buffer): void {
    head += data.toString('latin1')
    const headEnd = head.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    hasHead = true
    const length = /content-length: (\d+)/i.exec(head.slice(0, headEnd))?.[1]
    const read = head.length - headEnd - 4
    if (length !== undefined) missing = Number(length) - read
    else tail = head.slice(-5)
    head = head.slice(0, 20)
  }
  return {
    number,
    read(data: Buffer): void {
      if (!hasHead) readHead(data)
      else if (missing !== undefined) missing -= data.length
      else tail = (tail + data.toString('latin1', Math.max(0, data.length - 5))).slice(-5)
    },
    isWhole: (): boolean => hasHead && (missing === undefined ? tail === '0\r\n\r\n' : missing <= 0),
    isOk: (): boolean => head.startsWith('HTTP/1.1 200'),
    /** Adds up the text of the complete frames. */
    countText(data: Buffer, mark: string): number {
      unread += data.toString('latin1')
      for (;;) {
        const frameEnd = unread.indexOf('\n\n')
        if (frameEnd < 0) return characters
        const start = unread.indexOf(mark)
        if (start >= 0 && start < frameEnd) characters += unread.indexOf('"', start + mark.length) - start - mark.length
        unread = unread.slice(frameEnd + 2)
      }
    },
  }
}
