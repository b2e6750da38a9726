import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server on the loopback that answers every request with this text, as a stream or as JSON. */
export async function serveText(
  text: string,
  contentType: 'text/event-stream' | 'application/json' = 'text/event-stream',
) {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': contentType }).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

export type SseFrame = { readonly event: string | undefined; readonly data: string }

/** Parses frames strictly in the documented format, so that anything else fails the test. */
export function readFrames(text: string): SseFrame[] {
  if (text === '') return []
  if (!text.endsWith('\n\n')) throw new Error('The text does not end with a whole frame.')
  return text
    .slice(0, -2)
    .split('\n\n')
    .map((frame) => {
      const match = /^(?:event: ([\w.]+)\n)?data: ([^\n]+)$/.exec(frame)
      if (match === null) throw new Error(`Not a frame: ${frame}`)
      return { event: match[1], data: match[2] ?? '' }
    })
}
