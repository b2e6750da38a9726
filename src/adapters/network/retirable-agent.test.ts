import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { it } from 'node:test'
import { Agent } from 'undici'
import { createRetirableAgent, type RetirableAgent } from './retirable-agent.ts'

/** The status of one request over the agent. */
const request = (agent: RetirableAgent, origin: string): Promise<number> =>
  new Promise((resolve, reject) => {
    let status = 0
    agent.dispatch(
      { origin, path: '/', method: 'GET' },
      {
        onRequestStart: () => {},
        onResponseStart: (_controller, code) => void (status = code),
        onResponseData: () => {},
        onResponseEnd: () => resolve(status),
        onResponseError: (_controller, error) => reject(error),
      },
    )
  })

it('a retired agent keeps no connection, ends the calls that run, and serves later ones', async () => {
  const open = new Set<unknown>()
  const release = Promise.withResolvers<void>()
  let arrived = (): void => {}
  const server = createServer((_, response) => {
    arrived()
    void release.promise.then(() => response.end('ok'))
  })
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const agent = createRetirableAgent(() => new Agent())
  const isRunning = new Promise<void>((resolve) => (arrived = resolve))
  const running = request(agent, origin)
  await isRunning
  agent.retire()
  release.resolve()
  assert.equal(await running, 200)
  assert.equal(await request(agent, origin), 200)
  while (open.size > 0) await new Promise((resolve) => setImmediate(resolve))
  server.close()
  await once(server, 'close')
})
