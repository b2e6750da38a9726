import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from './database.ts'
import { openSqlite } from './sqlite/sqlite.ts'

/** What waits on a disk of this machine for a server that is out of reach. */
export type DiskQueue<T> = AsyncDisposable & {
  /** Durable once resolved. One whose id waits already is left as it is. */
  append(items: readonly { readonly id: string; readonly atMs: number; readonly value: T }[]): Promise<void>
  /** Oldest first; never more than `limit`. */
  read(limit: number): Promise<readonly T[]>
  remove(ids: readonly string[]): Promise<void>
  count(): Promise<number>
}

/** How its table and columns are called on the disk, where an older version may have left something. */
export type QueueNames = { readonly table: string; readonly id: string; readonly value: string }

/**
 * A small database in a folder of this machine. It is opened when it is first needed, which on most nodes is never. Nodes
 * that share the folder share what waits in it: whoever comes first writes it. Values are kept as JSON.
 */
export function createDiskQueue<T>(folder: string, { table, id, value }: QueueNames): DiskQueue<T> {
  let opened: Promise<Database> | undefined

  const open = (): Promise<Database> => {
    opened ??= openQueue(folder, `${table} (${id} TEXT primary key, at INTEGER not null, ${value} TEXT not null)`)
    return opened
  }

  return {
    async append(items) {
      const database = await open()
      const sql = `insert into ${table} (${id}, at, ${value}) values ($1, $2, $3) on conflict do nothing`
      await database.write(items.map((item) => ({ sql, params: [item.id, item.atMs, JSON.stringify(item.value)] })))
    },
    async read(limit) {
      const database = await open()
      const sql = `select ${value} as value from ${table} order by at, ${id} limit $1`
      const rows = await database.read<{ value: string }>(sql, [limit])
      return rows.map((row) => JSON.parse(row.value) as T)
    },
    async remove(ids) {
      const database = await open()
      const sql = `delete from ${table} where ${id} in (select value from json_each($1))`
      await database.write([{ sql, params: [JSON.stringify(ids)] }])
    },
    async count() {
      if (opened === undefined && !existsSync(join(folder, 'gatehouse.db'))) return 0
      const database = await open()
      const [row] = await database.read<{ count: number }>(`select count(*) as count from ${table}`)
      return row?.count ?? 0
    },
    async [Symbol.asyncDispose]() {
      await (await opened)?.[Symbol.asyncDispose]()
    },
  }
}

async function openQueue(folder: string, table: string): Promise<Database> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const database = await openSqlite({ dataDir: folder })
  await database.write([{ sql: `create table if not exists ${table} STRICT` }])
  return database
}
