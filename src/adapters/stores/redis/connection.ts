import { Redis } from 'ioredis'
import { systemClock, type Clock } from '../../../base/clock.ts'
import { createCommandTimeout } from './command-timeout.ts'

/** One pipelined connection to Redis or Valkey. */
export type RedisConnection = Disposable & {
  readonly client: Redis
  /** Sends a command. Rejects if no reply arrives within the timeout. */
  send<T>(command: (client: Redis) => Promise<T>): Promise<T>
  /**
   * The run id of the server process; null while there is no connection. A server that was restarted, restored or replaced has
   * another run id, whatever data it has loaded.
   */
  epoch(): string | null
  /** Resolves once the connection is established. */
  ready(): Promise<void>
}

export type RedisConnectionOptions = {
  readonly url: string
  /** Short, because the caller of an admission has a local fallback. */
  readonly commandTimeoutMs?: number
  readonly clock?: Clock
  readonly onError?: (error: Error) => void
}

/**
 * A command is sent at most once. Nothing is queued while the server is unreachable, and nothing is resent after a reconnect,
 * because it could reach another run of the server than the intended one.
 */
export function connectRedis(options: RedisConnectionOptions): RedisConnection {
  const { url, commandTimeoutMs = 50, clock = systemClock, onError } = options
  const client = new Redis(url, {
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempt) => Math.min(25 * 2 ** attempt, 1_000),
  })
  const withTimeout = createCommandTimeout(clock, commandTimeoutMs)
  const send = <T>(command: (sender: Redis) => Promise<T>): Promise<T> => withTimeout(command(client))
  let run: string | null = null
  let connected = Promise.withResolvers<void>()

  const readRun = async (): Promise<void> => {
    try {
      run = runIn(await send(() => client.info('server')))
      connected.resolve()
    } catch (error) {
      onError?.(toError(error))
      if (client.status === 'ready') client.disconnect(true) // reconnects
    }
  }
  client.on('error', (error: Error) => onError?.(error))
  client.on('ready', () => void readRun())
  client.on('close', () => {
    if (run !== null) connected = Promise.withResolvers<void>()
    run = null
  })
  return {
    client,
    send,
    epoch: () => run,
    ready: () => connected.promise,
    [Symbol.dispose]: () => client.disconnect(),
  }
}

/** Without a run id, a restart of the server could not be detected, and credits could be spent twice. */
function runIn(info: string): string {
  const run = /^run_id:(\w+)/m.exec(info)?.[1]
  if (run === undefined) throw new Error('the server reports no run_id')
  return run
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
