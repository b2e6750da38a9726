import type { Database } from '../database.ts'

/**
 * Exists in a PostgreSQL database while an embedded one is copied into it: for each table how many rows are there. It is no migration,
 * because a database without an unfinished copy does not have it.
 */
export const progressTable = 'copy_progress'

export const createProgress = `create table ${progressTable}
  (table_name text primary key, source text not null, rows bigint not null, nul_texts bigint not null)`

/** Throws if only a part of an embedded database is there, because a server would treat the rest as deleted. */
export async function assertNoUnfinishedCopy(database: Database): Promise<void> {
  const [row] = await database.read(`select cast(to_regclass('${progressTable}') as text) as name`)
  if (row?.['name'] == null) return
  throw new Error(
    'an embedded database is being copied into it, and the copy is not complete. Continue with gatehouse migrate --to, or use another database.',
  )
}
