import { createConnection } from 'node:net'
import { DataFolderInUse, lockDataFolder } from '../../adapters/stores/sql/sqlite/data-folder.ts'
import { controlSocketPath } from '../client/control-socket-path.ts'

/**
 * Locks the data folder for this process. Rejects if a server answers on the control socket of the folder, because somebody may have
 * removed the lock file while that server runs.
 */
export async function lockUnusedFolder(dataDir: string): Promise<Disposable> {
  const lock = lockDataFolder(dataDir)
  if (!(await isAnswered(controlSocketPath(dataDir)))) return lock
  lock[Symbol.dispose]()
  throw new DataFolderInUse(dataDir, undefined)
}

/** A killed server leaves the file, but nobody answers on it. */
function isAnswered(socketPath: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = createConnection(socketPath, () => resolve(true))
  socket.on('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}
