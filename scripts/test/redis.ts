import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { startSupervised } from './supervised-server.ts'
import { freePort, waitFor, type TestServer } from './ready.ts'

/** Starts a Redis (or Valkey) server for one test run: on loopback, in memory only. */
export async function startRedis(program: string): Promise<TestServer> {
  const port = await freePort()
  const password = randomBytes(16).toString('hex')
  const settings = ['bind 127.0.0.1', `port ${port}`, `requirepass ${password}`, 'save ""', 'appendonly no']
  const server = startSupervised({
    name: 'redis',
    files: { 'redis.conf': `${settings.join('\n')}\n` },
    command: [program, 'redis.conf'],
    stopSignal: 'KILL',
  })
  const url = `redis://:${password}@127.0.0.1:${port}`
  await waitFor('Redis', server, () => pingRedis(url))
  return { url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

/** Throws if no Redis server answers at this address. Uses a plain socket, because two commands need no client library. */
export async function pingRedis(url: string): Promise<void> {
  const { hostname, port, username, password } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port || 6379), timeout: 5000 })
  try {
    socket.on('timeout', () => socket.destroy(new Error('no answer within 5 s')))
    await once(socket, 'connect')
    const login = password === '' ? [] : ['AUTH', ...(username === '' ? [] : [username]), decodeURIComponent(password)]
    socket.write(`${login.length > 0 ? `${login.join(' ')}\r\n` : ''}PING\r\n`)
    let answer = ''
    for await (const chunk of socket) {
      answer += String(chunk)
      if (answer.includes('+PONG')) return
      if (answer.startsWith('-')) throw new Error(answer.trim())
    }
    throw new Error('the connection was closed')
  } finally {
    socket.destroy()
  }
}
