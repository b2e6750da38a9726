import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SupervisedServer } from './supervised-server.ts'

/** A server that is ready at its address. */
export type TestServer = AsyncDisposable & { readonly url: string }

const startTimeoutMs = 60_000
const pollIntervalMs = 50

/** A port without a listener. If another process takes it first, the server fails to start and reports that. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
  return address.port
}

/** Waits until `ping` no longer throws. Throws the server's output if it has ended or takes too long. */
export async function waitFor(name: string, server: SupervisedServer, ping: () => Promise<void>): Promise<void> {
  let output: string | undefined
  void server.ended.then((text) => (output = text))
  const deadlineMs = performance.now() + startTimeoutMs
  for (;;) {
    try {
      return await ping()
    } catch (error) {
      if (output === undefined && performance.now() < deadlineMs) {
        await sleep(pollIntervalMs)
        continue
      }
      await server[Symbol.asyncDispose]()
      throw new Error(`${name} did not start.\n${output ?? ''}`, { cause: error })
    }
  }
}
