import { join } from 'node:path'
import type { Database } from '../../adapters/stores/sql/database.ts'
import { databaseFileName } from '../../adapters/stores/sql/sqlite/data-folder.ts'
import type { ReadSource } from '../../adapters/stores/sql/verification/reader.ts'
import { createVerificationThreads, type VerificationThreads } from '../../adapters/stores/sql/verification/threads.ts'
import type { Config } from '../../config/config.ts'
import type { EncodingSource } from '../encoding-thread/protocol.ts'
import { createEncodingThread, type EncodingThread } from '../encoding-thread/thread.ts'

/** Threads that read the database with connections of their own, beside the requests. */
export type StorageThreads = {
  readonly verification: VerificationThreads
  /** Reads and encodes long responses. */
  readonly encoding: EncodingThread
}

/** `opened` ends the threads before it closes the database. */
export function createStorageThreads(
  opened: AsyncDisposableStack,
  database: Database,
  storage: Config['storage'],
): StorageThreads {
  const source = sourceOf(storage)
  const encoding = { database, source: encodingSourceOf(source, storage), timeoutMs: storage.report_timeout_ms }
  return {
    verification: opened.use(createVerificationThreads(database, source)),
    encoding: opened.use(createEncodingThread(encoding)),
  }
}

const sourceOf = ({ data_dir: dataDir, database_url: url }: Config['storage']): ReadSource =>
  url === undefined ? { engine: 'sqlite', path: join(dataDir, databaseFileName) } : { engine: 'postgres', url }

/** Connections of the thread to PostgreSQL, beside `reports_pool_size` of the node. */
const encodingConnections = 2

function encodingSourceOf(source: ReadSource, storage: Config['storage']): EncodingSource {
  if (source.engine === 'sqlite') return source
  const { reports_url: url = source.url, report_timeout_ms: timeoutMs } = storage
  return { engine: 'postgres', url, timeoutMs, poolSize: encodingConnections }
}
