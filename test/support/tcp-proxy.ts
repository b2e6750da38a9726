import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export type TcpProxy = AsyncDisposable & {
  readonly port: number
  /** From now on no data comes back from the server, as if it hangs or the network fails in one direction. */
  swallowAnswers(): void
  /** The open connections break with the next data from the client. */
  breakOnNextRequest(): void
  /** Breaks all open connections at once, and lets new ones through. */
  cut(): void
  /** Breaks all open connections, and accepts none until it is opened again. */
  shut(): void
  open(): void
  /** Accepts connections and data but forwards nothing until it is resumed, like a suspended server. */
  pause(): void
  resume(): void
}

/** A proxy to `target` that fails on demand. */
export async function startTcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const clients = new Set<Socket>()
  const breaking = new Set<Socket>()
  let isSwallowing = false
  let isShut = false
  let isPaused = false
  const pairs = new Set<readonly [Socket, Socket]>()

  const server = createServer((client) => {
    if (isShut) return void client.resetAndDestroy()
    const upstream = connect(target)
    clients.add(client)
    const pair = [client, upstream] as const
    pairs.add(pair)
    client.on('data', (chunk) => {
      if (breaking.has(client)) client.resetAndDestroy()
      else upstream.write(chunk)
    })
    upstream.on('data', (chunk) => void (isSwallowing || client.write(chunk)))
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.on('error', () => undefined)
      socket.on('close', () => {
        clients.delete(client)
        pairs.delete(pair)
        other.destroySoon()
      })
    }
    if (isPaused) for (const socket of pair) socket.pause()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const cut = (): void => {
    isSwallowing = false
    for (const client of clients) client.resetAndDestroy()
  }
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    swallowAnswers: () => void (isSwallowing = true),
    breakOnNextRequest: () => clients.forEach((client) => breaking.add(client)),
    cut,
    shut() {
      isShut = true
      cut()
    },
    open: () => void (isShut = false),
    pause() {
      isPaused = true
      for (const socket of [...pairs].flat()) socket.pause()
    },
    resume() {
      isPaused = false
      for (const socket of [...pairs].flat()) socket.resume()
    },
    async [Symbol.asyncDispose]() {
      cut()
      server.close()
    },
  }
}
