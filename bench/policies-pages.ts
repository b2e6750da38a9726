// The cost of one page at the start, in the middle and at the end of a long list: `node bench/policies-pages.ts [COUNT]`.
// Runs on the embedded database, and on PostgreSQL if BENCH_DATABASE_URL names an empty database.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Database, Transaction } from '../src/adapters/stores/sql/database.ts'
import { migrate, readMigrations } from '../src/adapters/stores/sql/migrate.ts'
import { policyStore } from '../src/adapters/stores/sql/policies/policies.ts'
import { openPostgres } from '../src/adapters/stores/sql/postgres/postgres.ts'
import { directoryStore } from '../src/adapters/stores/sql/identity/directory.ts'
import { openSqlite } from '../src/adapters/stores/sql/sqlite/sqlite.ts'
import { createPolicy } from '../src/domain/policy/lifecycle.ts'

const count = Number(process.argv[2] ?? 100_000)
const perTransaction = 5_000
const pagesMeasured = 200
const pageSize = 20
const organizationId = 'org_bench'

const idAt = (at: number): string => `pol_${String(at).padStart(26, '0')}`

async function fill(database: Database): Promise<void> {
  const organization = { id: organizationId, name: 'Bench', plan: 'free', lifetimePaidMicroUsd: 0 }
  await database.transaction((tx) =>
    directoryStore(tx).insertOrganization({ ...organization, metered: true, createdAtMs: 1 }),
  )
  for (let from = 0; from < count; from += perTransaction) {
    await database.transaction(async (tx) => {
      const store = policyStore(tx)
      const some = Array.from({ length: Math.min(perTransaction, count - from) }, (_, at) => idAt(from + at))
      const rule = 'Never mention "Falcon". '.repeat(20)
      for (const id of some) await store.insert(createPolicy({ name: id, rule }, { id, organizationId, nowMs: 1 }))
    })
  }
}

/** Median microseconds to read one page after this cursor. */
async function costAt(database: Database, position: number): Promise<number> {
  const reading: Transaction = {
    query: (sql, params) => database.read(sql, params),
    run: () => Promise.reject(new Error('reading only')),
  }
  const store = policyStore(reading)
  const page = { limit: pageSize, order: 'asc', after: idAt(position) } as const
  const times: number[] = []
  for (let turn = 0; turn < pagesMeasured; turn++) {
    const startMs = performance.now()
    const { items } = await store.list(organizationId, page)
    times.push((performance.now() - startMs) * 1000)
    if (items.length !== pageSize) throw new Error(`a page of ${items.length}`)
  }
  return times.toSorted((left, right) => left - right)[pagesMeasured / 2] ?? 0
}

async function measure(name: string, database: Database): Promise<void> {
  await migrate(database, await readMigrations(fileURLToPath(new URL('../migrations', import.meta.url))))
  await fill(database)
  const positions = { start: 0, middle: Math.floor(count / 2), end: count - pageSize - 2 }
  await costAt(database, positions.middle) // warms up
  console.log(`\n${name}, ${count} policies, a page of ${pageSize} (microseconds)`)
  for (const [label, position] of Object.entries(positions)) {
    console.log(`  ${label.padEnd(8)} ${(await costAt(database, position)).toFixed(0).padStart(8)}`)
  }
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
try {
  await using database = await openSqlite({ dataDir: folder })
  await measure('SQLite', database)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

const url = process.env['BENCH_DATABASE_URL']
if (url !== undefined) {
  await using database = await openPostgres({ url, statementTimeoutMs: 0 })
  await measure('PostgreSQL', database)
}
