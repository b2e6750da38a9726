import { createServer } from 'node:http'
import { Agent } from 'undici'

/** The baseline: a proxy of node:http and undici's dispatch that forwards bytes unchanged. `node bare.ts PORT UPSTREAM_PORT`. */
const [port, upstreamPort] = process.argv.slice(2)
const agent = new Agent({ pipelining: 1 })

createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks)
    const headers = ['content-type', 'application/json', 'content-length', String(body.length)]
    agent.dispatch(
      { origin: `http://127.0.0.1:${upstreamPort}`, path: request.url ?? '/', method: 'POST', headers, body },
      {
        onRequestStart() {},
        onResponseStart(_controller, status, received) {
          response.writeHead(status, { 'content-type': String(received['content-type'] ?? '') })
        },
        onResponseData: (_controller, chunk) => void response.write(chunk),
        onResponseEnd: () => void response.end(),
        onResponseError: (_controller, error) => void response.destroy(error),
      },
    )
  })
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'))
