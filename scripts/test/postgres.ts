import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { freePort, waitFor, type TestServer } from './ready.ts'
import { startSupervised } from './supervised-server.ts'

/** Locale and encoding are fixed, so that sorting does not depend on the machine. fsync stays on, as in production. */
const initAndServe = `
  "$1/initdb" --pgdata=data --username=gatehouse --pwfile=password --auth=scram-sha-256 \\
    --encoding=UTF8 --locale=C --no-sync >/dev/null &&
  exec "$1/postgres" -D data -p "$2" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200
`

/** Starts a PostgreSQL server for one test run, from the programs in this folder. */
export async function startPostgres(programs: string, password = randomBytes(16).toString('hex')): Promise<TestServer> {
  const port = await freePort()
  const server = startSupervised({
    name: 'postgres',
    files: { password },
    command: ['/bin/sh', '-c', initAndServe, 'postgres', programs, String(port)],
    stopSignal: 'QUIT',
  })
  const url = `postgres://gatehouse:${password}@127.0.0.1:${port}/postgres`
  await waitFor('PostgreSQL', server, () => pingPostgres(url))
  return { url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

/** Throws if no PostgreSQL server answers at this address. */
export async function pingPostgres(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  try {
    await client.connect()
    await client.query('select 1')
  } finally {
    await client.end()
  }
}
