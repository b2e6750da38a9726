import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Charge } from '../../../../domain/credits/charge.ts'
import type { Spool } from '../../../../domain/credits/spool.ts'
import type { Database } from '../database.ts'
import { openSqlite } from '../sqlite/sqlite.ts'

const table = `create table if not exists unsettled
  (request_id TEXT primary key, at INTEGER not null, charge TEXT not null) STRICT`

/**
 * A small database in a folder of this machine. It is opened when it is first needed, which on most nodes is never. Nodes
 * that share the folder share what waits in it: whoever comes first writes it.
 */
export function createSpool(folder: string): Spool {
  let opened: Promise<Database> | undefined

  const open = (): Promise<Database> => {
    opened ??= openSpool(folder)
    return opened
  }

  return {
    async append(charge) {
      const database = await open()
      const sql = 'insert into unsettled (request_id, at, charge) values ($1, $2, $3) on conflict do nothing'
      await database.write([{ sql, params: [charge.requestId, charge.atMs, JSON.stringify(charge)] }])
    },
    async read(limit) {
      const database = await open()
      const rows = await database.read<{ charge: string }>('select charge from unsettled order by at limit $1', [limit])
      return rows.map(({ charge }) => JSON.parse(charge) as Charge)
    },
    async remove(requestIds) {
      const database = await open()
      const sql = 'delete from unsettled where request_id in (select value from json_each($1))'
      await database.write([{ sql, params: [JSON.stringify(requestIds)] }])
    },
    async count() {
      if (opened === undefined && !existsSync(join(folder, 'gatehouse.db'))) return 0
      const database = await open()
      const [row] = await database.read<{ count: number }>('select count(*) as count from unsettled')
      return row?.count ?? 0
    },
    async [Symbol.asyncDispose]() {
      await (await opened)?.[Symbol.asyncDispose]()
    },
  }
}

async function openSpool(folder: string): Promise<Database> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const database = await openSqlite({ dataDir: folder })
  await database.write([{ sql: table }])
  return database
}
