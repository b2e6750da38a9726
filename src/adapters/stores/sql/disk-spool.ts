import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Spool } from '../../../base/spool.ts'
import type { Database } from './database.ts'
import { openSqlite } from './sqlite/sqlite.ts'

/** Names of the table and its columns, which must not change because an older version may have left items, and their values. */
export type SpoolLayout<T> = {
  readonly table: string
  readonly id: string
  readonly value: string
  readonly idOf: (item: T) => string
  readonly atMsOf: (item: T) => number
}

/**
 * A small SQLite database in a folder of this machine. It is opened on first use, which on most nodes never happens. Nodes that
 * share the folder share its items; the first one to write them wins. Items are stored as JSON.
 */
export function createDiskSpool<T>(folder: string, layout: SpoolLayout<T>): Spool<T> {
  const { table, id, value, idOf, atMsOf } = layout
  let opened: Promise<Database> | undefined

  const asideTable = `${table}_set_aside`
  const columns = `${id} TEXT primary key, at INTEGER not null, ${value} TEXT not null`
  const tables = [table, asideTable].map((name) => `${name} (${columns})`)
  const open = (): Promise<Database> => (opened ??= openFolder(folder, tables).catch(openLater))
  const isUnused = (): boolean => opened === undefined && !existsSync(join(folder, 'gatehouse.db'))
  /** Opens again on the next call, because a full disk may have space then. */
  const openLater = (error: unknown): never => {
    opened = undefined
    throw error
  }

  return {
    idOf,
    async append(items) {
      const database = await open()
      const sql = `insert into ${table} (${id}, at, ${value}) values ($1, $2, $3) on conflict do nothing`
      await database.write(items.map((item) => ({ sql, params: [idOf(item), atMsOf(item), JSON.stringify(item)] })))
    },
    async read(limit) {
      const database = await open()
      const sql = `select ${value} as value from ${table} order by at, ${id} limit $1`
      const rows = await database.read<{ value: string }>(sql, [limit])
      return rows.map((row) => JSON.parse(row.value) as T)
    },
    async remove(items) {
      const database = await open()
      const sql = `delete from ${table} where ${id} in (select value from json_each($1))`
      await database.write([{ sql, params: [JSON.stringify(items.map(idOf))] }])
    },
    async count() {
      if (isUnused()) return 0
      const database = await open()
      const [row] = await database.read<{ count: number }>(`select count(*) as count from ${table}`)
      return row?.count ?? 0
    },
    async setAside(item) {
      const database = await open()
      const itemId = [idOf(item)]
      await database.write([
        {
          sql: `insert into ${asideTable} select * from ${table} where ${id} = $1 on conflict do nothing`,
          params: itemId,
        },
        { sql: `delete from ${table} where ${id} = $1`, params: itemId },
      ])
    },
    async restoreSetAside() {
      if (isUnused()) return
      const database = await open()
      await database.write([
        { sql: `insert into ${table} select * from ${asideTable} where true on conflict do nothing` },
        { sql: `delete from ${asideTable}` },
      ])
    },
    async [Symbol.asyncDispose]() {
      await (await opened)?.[Symbol.asyncDispose]()
    },
  }
}

async function openFolder(folder: string, tables: readonly string[]): Promise<Database> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  await using opened = new AsyncDisposableStack()
  const database = opened.use(await openSqlite({ dataDir: folder }))
  await database.write(tables.map((table) => ({ sql: `create table if not exists ${table} STRICT` })))
  opened.move()
  return database
}
