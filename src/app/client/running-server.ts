import { get } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Config } from '../../config/config.ts'
import { controlSocketPath } from './control-socket-path.ts'

/**
 * The answer of the server that runs on the data folder, whichever port it listens on. Undefined if none runs, or if it cannot be
 * asked: with PostgreSQL there is no socket, and only its owner may use it.
 */
export function askRunningServer(
  { storage }: Pick<Config, 'storage'>,
  path: string,
  timeoutMs: number,
): Promise<string | undefined> {
  if (storage.database_url !== undefined) return Promise.resolve(undefined)
  const options = { socketPath: controlSocketPath(storage.data_dir), path, agent: false as const }
  return new Promise((settle) => {
    const none = (): void => settle(undefined)
    get({ ...options, signal: AbortSignal.timeout(timeoutMs) }, (response) => {
      text(response).then(settle, none)
    }).on('error', none)
  })
}
