import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Database } from '../src/adapters/stores/sql/database.ts'
import { grantStore } from '../src/adapters/stores/sql/credits/grants.ts'
import { ledgerStore } from '../src/adapters/stores/sql/credits/ledger.ts'
import { migrate, readMigrations } from '../src/adapters/stores/sql/migrate.ts'
import { openPostgres } from '../src/adapters/stores/sql/postgres/postgres.ts'
import { directoryStore } from '../src/adapters/stores/sql/identity/directory.ts'
import { openSqlite } from '../src/adapters/stores/sql/sqlite/sqlite.ts'
import { systemClock as clock } from '../src/base/clock.ts'
import { createIds } from '../src/base/ids.ts'
import { systemRandom } from '../src/base/random.ts'
import type { LedgerStore } from '../src/domain/credits/ledger-store.ts'

/**
 * The cost of a durable charge: charges per second, latency, and CPU of this process, for a number of concurrent requests.
 * Runs on SQLite, and on PostgreSQL if DATABASE_URL names a scratch database.
 */
const count = 2_000
const ids = createIds(clock, systemRandom)

async function prepare(database: Database, organizations: number): Promise<LedgerStore> {
  await migrate(database, await readMigrations(fileURLToPath(new URL('../migrations', import.meta.url))))
  const ledger = ledgerStore(database, { ids, clock })
  for (let at = 0; at < organizations; at++) {
    const id = `org_${at}`
    const made = { id, name: id, plan: 'free', lifetimePaidMicroUsd: 0, metered: true, createdAtMs: 1 }
    const start = { organizationId: id, kind: 'grant', ref: 'start', micro: 1e12, note: '' } as const
    await database.transaction(async (tx) => {
      await directoryStore(tx).insertOrganization(made)
      await grantStore(tx, { ids, clock, engine: database.engine }).grant(start)
    })
    const slice = { id: `slice_${at}`, organizationId: id, holder: 'node', epoch: 'bench' } as const
    await ledger.openSlice(slice, { leastMicro: 1e11, wantedMicro: 1e11 })
  }
  return ledger
}

async function measure(name: string, ledger: LedgerStore, { atOnce, organizations }: Load): Promise<void> {
  const waitsMs: number[] = []
  let next = 0
  const caller = async (): Promise<void> => {
    while (next < count) {
      const at = next++ % organizations
      const beganMs = performance.now()
      await ledger.settle({
        requestId: ids('req'),
        organizationId: `org_${at}`,
        projectId: 'proj',
        keyId: 'key',
        model: 'bench-model',
        atMs: clock.nowMs(),
        outcome: 'answered',
        sliceId: `slice_${at}`,
        micro: 45,
        usage: { inputTokens: 10, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 1, source: 'reported' },
        rates: { input: 3e6, cacheRead: 3e6, cacheWrite: 3e6, output: 15e6, version: 'bench' },
      })
      waitsMs.push(performance.now() - beganMs)
    }
  }
  const cpu = process.threadCpuUsage()
  const beganMs = performance.now()
  await Promise.all(Array.from({ length: atOnce }, caller))
  const seconds = (performance.now() - beganMs) / 1000
  const { user, system } = process.threadCpuUsage(cpu)
  const [p50 = 0, p99 = 0] = [0.5, 0.99].map((share) => waitsMs.toSorted((a, b) => a - b)[Math.floor(count * share)])
  const figures = [
    `${Math.round(count / seconds)}/s`.padStart(9),
    `p50 ${p50.toFixed(1)} ms`.padStart(13),
    `p99 ${p99.toFixed(1)} ms`.padStart(14),
    `${((user + system) / count).toFixed(0)} us CPU`.padStart(10),
  ]
  console.log(
    `${name.padEnd(12)} ${`${atOnce} at once, ${organizations} organizations`.padEnd(34)} ${figures.join('  ')}`,
  )
}

type Load = { readonly atOnce: number; readonly organizations: number }

async function measureAll(name: string, database: Database): Promise<void> {
  const ledger = await prepare(database, 100)
  for (const atOnce of [1, 32, 256]) {
    for (const organizations of [1, 100]) {
      if (atOnce > 1 || organizations === 1) await measure(name, ledger, { atOnce, organizations })
    }
  }
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
try {
  await using sqlite = await openSqlite({ dataDir: folder, hasRedoLog: true })
  await measureAll('SQLite', sqlite)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
const url = process.env['DATABASE_URL']
if (url !== undefined) {
  await using postgres = await openPostgres({ url })
  await measureAll('PostgreSQL', postgres)
}
