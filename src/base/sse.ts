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
export function createSseReader(maxFrameLength = defaultMaxFrameLength): SseReader {
  const lines = createLineReader()
  let event: string | undefined
  let data: string | undefined
  let dataLength = 0
  let frames: SseFrame[] = []

  const takeField = (line: string): void => {
    if (line.startsWith('data')) {
      const value = valueOf(line, 4)
      if (value === undefined) return
      data = data === undefined ? value : `${data}\n${value}`
      dataLength = data.length
    } else if (line.startsWith('event')) {
      event = valueOf(line, 5) ?? event
    }
  }

  const takeLine = (line: string): void => {
    if (line === '') dispatch()
    else takeField(line)
    if (dataLength > maxFrameLength) throw tooLong(maxFrameLength)
  }

  const dispatch = (): void => {
    // The standard drops events without data.
    // Usually there is one frame, and an array that grows from empty allocates space for many.
    if (data !== undefined && data !== '') {
      if (frames.length === 0) frames = [{ event, data }]
      else frames.push({ event, data })
    }
    event = undefined
    data = undefined
    dataLength = 0
  }

  const read = (text: string): SseFrame[] => {
    frames = []
    lines.push(text, takeLine)
    if (dataLength + lines.pendingLength() > maxFrameLength) throw tooLong(maxFrameLength)
    return frames
  }

  const decoder = new StringDecoder('utf8')
  return {
    push: (bytes) => read(decoder.write(bytes)),
    end: () => read(`${decoder.end()}\n\n`),
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

/** Splits text into lines. A line ends with LF, CRLF or CR; a CRLF may be split between two chunks. */
function createLineReader() {
  let pending = ''
  let endedInReturn = false
  let atStart = true

  const toLineFeeds = (text: string): string => {
    const rest = endedInReturn && text.startsWith('\n') ? text.slice(1) : text
    endedInReturn = text.endsWith('\r')
    return rest.includes('\r') ? rest.replaceAll(/\r\n?/g, '\n') : rest
  }

  return {
    pendingLength: () => pending.length,
    push(raw: string, onLine: (line: string) => void): void {
      if (raw === '') return
      const text = toLineFeeds(atStart && raw.startsWith(byteOrderMark) ? raw.slice(1) : raw)
      atStart = false
      let from = 0
      let to = text.indexOf('\n')
      if (to === -1) {
        pending += text
        return
      }
      if (pending !== '') {
        onLine(pending + text.slice(0, to))
        pending = ''
        from = to + 1
        to = text.indexOf('\n', from)
      }
      for (; to !== -1; to = text.indexOf('\n', from)) {
        onLine(text.slice(from, to))
        from = to + 1
      }
      pending = text.slice(from)
    },
  }
}

const tooLong = (limit: number): RangeError => new RangeError(`A server-sent event is longer than ${limit} characters.`)
