import { connect as connectSocket } from 'node:net'

/** One line of `gatehouse doctor`. */
export type Diagnosis = {
  readonly part: string
  readonly state: 'ok' | 'warning' | 'wrong'
  readonly message: string
  readonly fix?: string
}

export const connectTimeoutMs = 3_000

/** Returns undefined if a connection opened, otherwise the reason why not. */
export function tryConnect(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolvePromise) => {
    const socket = connectSocket({ host, port, timeout: connectTimeoutMs })
    const end = (result: string | undefined): void => {
      socket.destroy()
      resolvePromise(result)
    }
    socket
      .once('connect', () => end(undefined))
      .once('timeout', () => end('timeout'))
      .once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message))
  })
}
