import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KeptServer } from './keeper.ts'

/** A server that answers at its address. */
export type TestServer = AsyncDisposable & { readonly url: string }

const patienceMs = 60_000
const pauseMs = 50

/** A port that nobody listens on. Another process may take it before we do; then the server says so when it starts. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
  return address.port
}

/** Waits until `ping` no longer throws. Gives up, with the server's own words, when it ended or takes too long. */
export async function waitFor(name: string, server: KeptServer, ping: () => Promise<void>): Promise<void> {
  let lastWords: string | undefined
  void server.ended.then((words) => (lastWords = words))
  const deadlineMs = performance.now() + patienceMs
  for (;;) {
    try {
      return await ping()
    } catch (error) {
      if (lastWords === undefined && performance.now() < deadlineMs) {
        await sleep(pauseMs)
        continue
      }
      await server[Symbol.asyncDispose]()
      throw new Error(`${name} did not start.\n${lastWords ?? ''}`, { cause: error })
    }
  }
}
