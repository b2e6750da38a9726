import { StringDecoder } from 'node:string_decoder'

/** One server-sent event: its name, if it has one, and its data lines joined. */
export type SseFrame = { readonly event: string | undefined; readonly data: string }

export type SseReader = {
  /** Returns the frames that these bytes complete. Throws a RangeError if a frame exceeds the limit. */
  push(bytes: Uint8Array): SseFrame[]
  /** Call it at the end of the stream: also returns a last frame that lacks its blank line. */
  end(): SseFrame[]
}

const defaultMaxFrameLength = 16 * 1024 * 1024

/** Parses server-sent events from bytes that may be split anywhere, even inside a character or a line end. */
export const createSseReader = (maxFrameLength = defaultMaxFrameLength): SseReader => new FrameParser(maxFrameLength)

/** A class, because an object with its own closures would cost every stream more memory. A line ends with LF, CRLF or CR. */
class FrameParser implements SseReader {
  readonly maxFrameLength: number
  readonly decoder = new StringDecoder('utf8')
  /** The beginning of a line whose end has not arrived. */
  pending = ''
  /** A CRLF may be split between two reads. */
  endedInReturn = false
  atStart = true
  event: string | undefined = undefined
  data: string | undefined = undefined
  frames: SseFrame[] = []

  constructor(maxFrameLength: number) {
    this.maxFrameLength = maxFrameLength
  }

  push(bytes: Uint8Array): SseFrame[] {
    return this.read(this.decoder.write(bytes))
  }

  end(): SseFrame[] {
    return this.read(`${this.decoder.end()}\n\n`)
  }

  read(text: string): SseFrame[] {
    if (text !== '') this.readLines(this.toLineFeeds(text))
    this.checkLength(this.pending.length)
    const { frames } = this
    this.frames = []
    return frames
  }

  toLineFeeds(text: string): string {
    const hasMark = this.atStart && text.startsWith(byteOrderMark)
    const rest = hasMark || (this.endedInReturn && text.startsWith('\n')) ? text.slice(1) : text
    this.atStart = false
    this.endedInReturn = text.endsWith('\r')
    return rest.includes('\r') ? rest.replaceAll(/\r\n?/g, '\n') : rest
  }

  readLines(text: string): void {
    let from = 0
    for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
      const line = text.slice(from, to)
      from = to + 1
      this.takeLine(this.pending === '' ? line : this.pending + line)
      this.pending = ''
    }
    this.pending += from === 0 ? text : text.slice(from)
  }

  takeLine(line: string): void {
    if (line === '') this.dispatch()
    else this.takeField(line)
    this.checkLength(0)
  }

  takeField(line: string): void {
    if (line.startsWith('data')) {
      const value = valueOf(line, 4)
      if (value !== undefined) this.data = this.data === undefined ? value : `${this.data}\n${value}`
    } else if (line.startsWith('event')) {
      this.event = valueOf(line, 5) ?? this.event
    }
  }

  dispatch(): void {
    const { event, data } = this
    this.event = undefined
    this.data = undefined
    // The standard drops events without data.
    if (data === undefined || data === '') return
    // Usually there is one frame, and an array that grows from empty allocates space for many.
    if (this.frames.length === 0) this.frames = [{ event, data }]
    else this.frames.push({ event, data })
  }

  checkLength(pendingLength: number): void {
    if ((this.data?.length ?? 0) + pendingLength > this.maxFrameLength) throw tooLong(this.maxFrameLength)
  }
}

/** The text after `field:` and one optional space; undefined if the line has a longer field name. */
function valueOf(line: string, nameLength: number): string | undefined {
  if (line.length === nameLength) return ''
  if (line.charCodeAt(nameLength) !== colon) return undefined
  return line.slice(line.charCodeAt(nameLength + 1) === space ? nameLength + 2 : nameLength + 1)
}

const colon = 58
const space = 32
const byteOrderMark = '\uFEFF'

const tooLong = (limit: number): RangeError => new RangeError(`A server-sent event is longer than ${limit} characters.`)
