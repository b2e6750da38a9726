import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy that serves a server below a path prefix, which it removes, and says nothing about it. */
export async function startPrefixProxy(target: string, prefix: string): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((incoming, outgoing) => {
    const url = incoming.url ?? ''
    if (!url.startsWith(`${prefix}/`)) return void outgoing.writeHead(404).end()
    const { method, headers } = incoming
    const forwarded = request(target + url.slice(prefix.length), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    // The stream of live figures is cut off when the test ends.
    forwarded.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
    return undefined
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${prefix}`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
