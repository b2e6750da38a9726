import { Redis } from 'ioredis'
import { systemClock, type Clock } from '../../../base/clock.ts'
import { createCommandTimeout } from './command-timeout.ts'

/** One pipelined connection to Redis or Valkey. */
export type RedisConnection = Disposable & {
  readonly client: Redis
  /** Sends a command and answers what comes back in time; what does not is an error. */
  ask<T>(command: (client: Redis) => Promise<T>): Promise<T>
  /**
   * The run of the server that this connection reaches; null while it reaches none. A server that was restarted,
   * restored or replaced has another one, whatever data it brings along.
   */
  epoch(): string | null
  /** Resolves once the server is reached. */
  ready(): Promise<void>
}

export type RedisConnectionOptions = {
  readonly url: string
  /** Short: whoever waits for an admission has a fallback that answers at once. */
  readonly commandTimeoutMs?: number
  readonly clock?: Clock
  readonly onError?: (error: Error) => void
}

/**
 * A command is sent once or not at all. Nothing is queued while the server is away, and nothing is sent again after a
 * reconnect: it would reach another run of the server than the one it was meant for.
 */
export function connectRedis(options: RedisConnectionOptions): RedisConnection {
  const { url, commandTimeoutMs = 50, clock = systemClock, onError } = options
  const client = new Redis(url, {
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempt) => Math.min(25 * 2 ** attempt, 1_000),
  })
  const patience = createCommandTimeout(clock, commandTimeoutMs)
  const ask = <T>(command: (sender: Redis) => Promise<T>): Promise<T> => patience(command(client))
  let run: string | null = null
  let reached = Promise.withResolvers<void>()

  const learnRun = async (): Promise<void> => {
    try {
      run = runIn(await ask(() => client.info('server')))
      reached.resolve()
    } catch (error) {
      onError?.(toError(error))
      if (client.status === 'ready') client.disconnect(true) // begins again
    }
  }
  client.on('error', (error: Error) => onError?.(error))
  client.on('ready', () => void learnRun())
  client.on('close', () => {
    if (run !== null) reached = Promise.withResolvers<void>()
    run = null
  })
  return {
    client,
    ask,
    epoch: () => run,
    ready: () => reached.promise,
    [Symbol.dispose]: () => client.disconnect(),
  }
}

/** A server that does not name its run cannot be trusted with money. */
function runIn(info: string): string {
  const run = /^run_id:(\w+)/m.exec(info)?.[1]
  if (run === undefined) throw new Error('the server does not name its run')
  return run
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
