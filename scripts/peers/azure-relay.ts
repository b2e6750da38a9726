import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import type { TestServer } from '../test/ready.ts'

/**
 * Serves Azure's two endpoints, login and ingestion, on one address. Decompresses gzip, which the checker behind it does
 * not support.
 */
export async function startAzureRelay(parts: {
  readonly login: string
  readonly ingestion: string
}): Promise<TestServer> {
  const relay = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isLogin = /^\/[^/]+\/oauth2\/v2\.0\/token$/.test(message.url ?? '')
    const url = isLogin ? `${parts.login}/token` : `${parts.ingestion}${message.url}`
    const sent = await buffer(message)
    const body = message.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
    const { authorization, 'content-type': type = '' } = message.headers
    const headers = { 'content-type': type, ...(authorization !== undefined && { authorization }) }
    const answer = await fetch(url, { method: 'POST', headers, body })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
    response.end(Buffer.from(await answer.arrayBuffer()))
  }
  const server = createServer((message, response) => void relay(message, response).catch(() => response.destroy()))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
