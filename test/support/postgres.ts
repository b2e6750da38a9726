import { randomBytes } from 'node:crypto'
import pg from 'pg'

const serverUrl = process.env.TEST_DATABASE_URL

/** Why a suite that needs PostgreSQL is skipped, or false: `describe('…', { skip: withoutPostgres }, …)`. */
export const withoutPostgres = serverUrl ? false : 'needs PostgreSQL; TEST_DATABASE_URL is not set'

export type ScratchDatabase = AsyncDisposable & { readonly url: string }

/** An empty database on the test server, so that parallel suites do not interfere. Disposing drops it. */
export async function createScratchDatabase(): Promise<ScratchDatabase> {
  if (!serverUrl) throw new Error('TEST_DATABASE_URL is not set')
  return createScratchDatabaseOn(serverUrl)
}

/**
 * A copy of a database of the test server. Of several processes that want it at the same time, one makes it. It stays on the
 * server, which is started for the run.
 */
export async function copyScratchDatabase(
  template: string,
  make: () => Promise<ScratchDatabase>,
): Promise<ScratchDatabase> {
  if (!serverUrl) throw new Error('TEST_DATABASE_URL is not set')
  await using client = await connect(serverUrl)
  await client.query('select pg_advisory_lock(hashtext($1))', [template])
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [template])
  if (rowCount === 0) await client.query(`alter database ${nameIn((await make()).url)} rename to ${template}`)
  await client.query('select pg_advisory_unlock(hashtext($1))', [template])
  return await createScratchDatabaseOn(serverUrl, `template ${template}`)
}

const nameIn = (url: string): string => new URL(url).pathname.slice(1)

/** The same on any server, for benches. */
export async function createScratchDatabaseOn(server: string, options = ''): Promise<ScratchDatabase> {
  const name = `scratch_${randomBytes(8).toString('hex')}`
  await runOn(server, `create database ${name} ${options}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    [Symbol.asyncDispose]: () => runOn(server, `drop database if exists ${name} with (force)`),
  }
}

async function runOn(server: string, sql: string): Promise<void> {
  await using client = await connect(server)
  await client.query(sql)
}

async function connect(connectionString: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}
