import Fastify from 'fastify'
import { Agent } from 'undici'

/** A plain Fastify proxy: parse, forward, parse, stringify. `node fastify.ts PORT UPSTREAM_PORT`. */
const [port, upstreamPort] = process.argv.slice(2)
const agent = new Agent({ pipelining: 1 })
const app = Fastify()
app.post('*', async (request, reply) => {
  const options = {
    origin: `http://127.0.0.1:${upstreamPort}`,
    path: request.url,
    method: 'POST' as const,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request.body),
  }
  const { statusCode, headers, body } = await agent.request(options)
  reply.code(statusCode).type(String(headers['content-type']))
  return String(headers['content-type']).includes('json') ? reply.send(await body.json()) : reply.send(body)
})
await app.listen({ port: Number(port), host: '127.0.0.1' })
process.stdout.write('ready\n')
