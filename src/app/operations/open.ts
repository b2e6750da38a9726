import { systemClock, type Clock } from '../../base/clock.ts'
import { createIds } from '../../base/ids.ts'
import { systemRandom } from '../../base/random.ts'
import type { Config } from '../../config/config.ts'
import { createChanges } from '../../domain/identity/changes.ts'
import { DataFolderInUse } from '../../adapters/stores/sql/sqlite/data-folder.ts'
import { createAdministration } from '../administration.ts'
import { remoteOperations } from './remote.ts'
import type { Operations } from './operations.ts'
import { secretFilesOf } from '../server-secrets.ts'
import { openStorage } from '../storage.ts'

/** What a command works on: the database itself, or the server that holds it. */
export type Connection = AsyncDisposable & {
  readonly operations: Operations
  readonly clock: Clock
  readonly migrationsApplied: number
}

/** Every command works while the server runs: the embedded database is then reached through the server's control socket. */
export async function connect(config: Config): Promise<Connection> {
  const clock = systemClock
  const random = systemRandom
  try {
    const storage = await openStorage(config, { clock, random })
    const { operations } = createAdministration({
      database: storage.database,
      clock,
      random,
      ids: createIds(clock, random),
      changes: createChanges(clock),
      keyring: storage.keyring,
      secretFiles: secretFilesOf(config, random),
      credits: config.credits,
      keyDefaults: { permissions: config.keys.default_permissions },
      hasJudge: config.policies.judge !== undefined,
    })
    return {
      operations,
      clock,
      migrationsApplied: storage.migrationsApplied,
      [Symbol.asyncDispose]: () => storage[Symbol.asyncDispose](),
    }
  } catch (error) {
    if (!(error instanceof DataFolderInUse)) throw error
    // The server brought the database up to date when it started.
    return {
      operations: remoteOperations(config.storage.data_dir),
      clock,
      migrationsApplied: 0,
      async [Symbol.asyncDispose]() {},
    }
  }
}
