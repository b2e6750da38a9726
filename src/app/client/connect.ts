import { resolve } from 'node:path'
import { DataFolderInUse, hasDatabase } from '../../adapters/stores/sql/sqlite/data-folder.ts'
import { systemClock } from '../../base/clock.ts'
import type { Config } from '../../config/config.ts'
import { createApiClient, socketTransport } from './api-client.ts'
import { controlSocketPath } from './control-socket-path.ts'
import { openInProcess, type Connection } from './in-process.ts'

/** There is no database in the data folder. */
export class NoDatabase extends Error {
  constructor(dataDir: string) {
    super(
      `There is no database in ${resolve(dataDir)}. Name the data folder with --data-dir or GATEHOUSE_DATA_DIR, or create one there with gatehouse setup.`,
    )
    this.name = 'NoDatabase'
  }
}

/**
 * Opens the database and serves the operator's API in this process. If a running server holds the data folder, connects
 * to its control socket instead, so that every command works while the server runs. Only with `mayCreate` is an embedded
 * database created, because a command that is run in the wrong folder must not leave one there.
 */
export async function connect(config: Config, { mayCreate = false } = {}): Promise<Connection> {
  const { data_dir: dataDir, database_url: url } = config.storage
  if (url === undefined && !mayCreate && !hasDatabase(dataDir)) throw new NoDatabase(dataDir)
  try {
    return await openInProcess(config)
  } catch (error) {
    if (!(error instanceof DataFolderInUse)) throw error
    return {
      client: createApiClient(socketTransport(controlSocketPath(dataDir))),
      clock: systemClock,
      migrationsApplied: 0, // the server applied all of them when it started
      async [Symbol.asyncDispose]() {},
    }
  }
}
