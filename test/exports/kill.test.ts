import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { createIds } from '../../src/base/ids.ts'
import { systemClock } from '../../src/base/clock.ts'
import { systemRandom } from '../../src/base/random.ts'
import { auditReads } from '../../src/adapters/stores/sql/audit/events.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { exportStore } from '../../src/adapters/stores/sql/exports/sinks.ts'
import { migrate, readMigrations } from '../../src/adapters/stores/sql/migrate.ts'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { createAuditParts } from '../../src/app/audit-parts.ts'
import { verifyLog } from '../../src/domain/audit/verify-log.ts'
import { createKeyring } from '../../src/domain/server-secret/keyring.ts'
import { longRun } from '../support/long-run.ts'
import { startProgram } from '../support/program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { killEncryption, killSecret, webhookSecret } from './kill-scene.ts'

const total = longRun ? 50_000 : 4_000
const kills = longRun ? 100 : 6
/** Lifetime of each sender. */
const livesMs = fc.sample(fc.integer({ min: 0, max: 400 }), { numRuns: kills, ...(longRun && { seed: longRun.seed }) })

it(`${total} events, the sender killed ${kills} times and the receiver stopped twice: none missing, none out of order`, async (t) => {
  await using folder = await temporaryFolder()
  await using receiver = await startReceiver()
  await fill(folder.path, receiver.url)
  const acknowledged = new Set<string>()
  let highestKb = 0
  for (const [kill, lifeMs] of livesMs.entries()) {
    if (kill === Math.floor(kills / 3) || kill === Math.floor((2 * kills) / 3)) await receiver.stop()
    await using program = startProgram(new URL('programs/sender.ts', import.meta.url), [folder.path, String(total)])
    const isReady = Promise.withResolvers<void>()
    const reading = readLines(program.lines, acknowledged, isReady.resolve)
    await isReady.promise
    await sleep(lifeMs)
    await receiver.start()
    highestKb = Math.max(highestKb, peakKb(program.pid))
    await program.kill()
    await reading
  }
  await using last = startProgram(new URL('programs/sender.ts', import.meta.url), [folder.path, String(total)])
  void readLines(last.lines, acknowledged, () => {})
  while (receiver.distinct() < total) await receiver.more()
  highestKb = Math.max(highestKb, peakKb(last.pid))
  await last.kill()

  const stored = await readLog(folder.path)
  t.diagnostic(
    `${receiver.received.length} events in ${receiver.requests()} requests, ${receiver.received.length - stored.length} duplicates; the sender needed ${Math.round(highestKb / 1024)} MB at most`,
  )
  const ids = new Map(stored.map(({ id, sequence }) => [id, sequence]))
  assert.deepEqual(
    [...acknowledged].filter((id) => !ids.has(id)),
    [],
    'what was acknowledged is in the log',
  )
  const seen = [...new Set(receiver.received.map(({ id }) => id))]
  assert.deepEqual(
    stored.filter(({ id }) => !receiver.has(id)),
    [],
    'missing',
  )
  const order = seen.map((id) => ids.get(id) ?? assert.fail(`${id} is not in the log`))
  assert.ok(
    order.every((sequence, at) => sequence === at + 1),
    'first seen in the order of the log',
  )
  for (const { id, sequence } of receiver.received) assert.equal(ids.get(id), sequence, 'a duplicate is the same event')
})

async function fill(dataDir: string, url: string): Promise<void> {
  await using database = await openSqlite({ dataDir })
  await migrate(database, await readMigrations(new URL('../../migrations', import.meta.url).pathname))
  await database.write([
    { sql: `insert into organization (id, name, changed_at, created_at) values ('org_1', 'One', 1, 1)` },
  ])
  await database.transaction((tx) =>
    exportStore(tx, killEncryption).insert(
      {
        id: 'sink_1',
        organizationId: 'org_1',
        type: 'webhook',
        label: '',
        enabled: true,
        config: { url, secret: '••••' },
        version: 1,
        createdAtMs: 1,
        updatedAtMs: 1,
      },
      { secret: webhookSecret },
      'retained',
    ),
  )
}

/** The complete log, after verification. */
async function readLog(dataDir: string): Promise<{ id: string; sequence: number }[]> {
  await using database: Database = await openSqlite({ dataDir })
  const reads = auditReads({ query: (sql, params) => database.read(sql, params) })
  const { textsKeys, trustedKeys } = createAuditParts({
    clock: systemClock,
    ids: createIds(systemClock, systemRandom),
    keyring: createKeyring({ current: killSecret }),
  })
  const report = await verifyLog(reads, 'org_1', {
    keys: trustedKeys(),
    textsKeys: textsKeys(),
    nowMs: systemClock.nowMs(),
  })
  assert.equal(report.finding, undefined)
  return await database.read<{ id: string; sequence: number }>('select id, sequence from audit_event order by sequence')
}

async function readLines(lines: AsyncIterable<string>, acknowledged: Set<string>, onReady: () => void): Promise<void> {
  for await (const line of lines) {
    const [word, ...ids] = line.split(' ')
    if (word === 'ready') onReady()
    if (word === 'wrote') for (const id of ids) acknowledged.add(id)
    assert.notEqual(word, 'lost')
  }
}

const peakKb = (pid: number | undefined): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)

type Seen = { readonly id: string; readonly sequence: number }

/** A receiver that can be stopped: it then refuses connections and closes the open ones. */
async function startReceiver() {
  const received: Seen[] = []
  const distinct = new Set<string>()
  let requests = 0
  let arrived = Promise.withResolvers<void>()
  const take = async (message: IncomingMessage): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of message) chunks.push(chunk)
    const { data } = JSON.parse(Buffer.concat(chunks).toString()) as {
      data: { metadata: { uid: string; sequence: number } }[]
    }
    requests += 1
    for (const { metadata } of data) {
      received.push({ id: metadata.uid, sequence: metadata.sequence })
      distinct.add(metadata.uid)
    }
    arrived.resolve()
    arrived = Promise.withResolvers()
  }
  let server: Server | undefined
  let port = 0
  const start = async (): Promise<void> => {
    if (server) return
    server = createServer((message, response) => {
      take(message).then(
        () => response.writeHead(204).end(),
        () => response.destroy(),
      )
    })
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  }
  const stop = async (): Promise<void> => {
    const closing = server
    server = undefined
    closing?.closeAllConnections()
    await new Promise((resolve) => (closing ? closing.close(resolve) : resolve(undefined)))
  }
  await start()
  return {
    url: `http://127.0.0.1:${port}/in`,
    received,
    requests: () => requests,
    distinct: () => distinct.size,
    has: (id: string) => distinct.has(id),
    more: () => arrived.promise,
    start,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
