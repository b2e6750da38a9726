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

/** The same on any server, for benches. */
export async function createScratchDatabaseOn(server: string): Promise<ScratchDatabase> {
  const name = `scratch_${randomBytes(8).toString('hex')}`
  await runOn(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    [Symbol.asyncDispose]: () => runOn(server, `drop database if exists ${name} with (force)`),
  }
}

async function runOn(connectionString: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
