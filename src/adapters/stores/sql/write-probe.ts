import type { Database } from './database.ts'
import { withErrorMapping } from './error-mapping.ts'

/**
 * Statements with a durable commit that change no data. On PostgreSQL the statement writes to the log only, so it waits for no
 * lock.
 */
export const probeStatements: Readonly<Record<Database['engine'], string>> = {
  sqlite: 'pragma user_version = 0',
  postgres: "select pg_logical_emit_message(true, 'gatehouse', 'probe')",
}

/** Rejects with the Fault that any write would cause. */
export async function writeProbe(database: Database): Promise<void> {
  await withErrorMapping(database).write([{ sql: probeStatements[database.engine] }])
}
