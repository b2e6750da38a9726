// The cost of the audit log: durable events per second and CPU per event through the journal, on the embedded database and on
// PostgreSQL. `node bench/audit.ts [--seconds 3]`. `npm run bench` measures its cost within a whole request.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock as clock } from '../src/base/clock.ts'
import { createIds } from '../src/base/ids.ts'
import { systemRandom } from '../src/base/random.ts'
import { createAuditAppender } from '../src/adapters/stores/sql/audit/chain.ts'
import type { Database } from '../src/adapters/stores/sql/database.ts'
import { migrate, readMigrations } from '../src/adapters/stores/sql/migrate.ts'
import { openPostgres } from '../src/adapters/stores/sql/postgres/postgres.ts'
import { openSqlite } from '../src/adapters/stores/sql/sqlite/sqlite.ts'
import { createAuditParts } from '../src/app/audit-parts.ts'
import type { EventFacts } from '../src/domain/audit/event/facts.ts'
import { createKeyring } from '../src/domain/server-secret/keyring.ts'
import { createJournal, type Journal } from '../src/domain/audit/journal.ts'
import { findPostgres } from '../scripts/test/binaries.ts'
import { startPostgres } from '../scripts/test/postgres.ts'

const seconds = Number(process.argv[process.argv.indexOf('--seconds') + 1]) || 3
const atOnce = [1, 32, 256]

console.log('Events through the journal, each acknowledged once durable')
await inFolder(async (folder) => {
  await using database = await openSqlite({ dataDir: folder, hasRedoLog: true })
  await measureJournal('embedded', database)
})
const programs = findPostgres()
if (programs === undefined) console.log('  PostgreSQL   not on this machine')
else {
  await using server = await startPostgres(programs)
  await using database = await openPostgres({ url: server.url })
  await measureJournal('PostgreSQL', database)
}

async function measureJournal(name: string, database: Database): Promise<void> {
  await migrate(database, await readMigrations(new URL('../migrations', import.meta.url).pathname))
  await database.write([
    { sql: `insert into organization (id, name, changed_at, created_at) values ('org_1', 'One', 1, 1)` },
  ])
  const { events } = createAuditParts({
    clock,
    ids: createIds(clock, systemRandom),
    keyring: createKeyring({ current: 'a secret for the bench' }),
  })
  const appender = createAuditAppender(database, events)
  const journal = createJournal({
    appender,
    events,
    clock,
    isAuditRequired: () => true,
    backlog: null,
    onLost: () => {},
  })
  await load(journal, 32, 1) // warms up
  for (const writers of atOnce) {
    const { count, cpuMicros } = await load(journal, writers, seconds)
    const rate = Math.round(count / seconds)
    console.log(
      `  ${name.padEnd(12)} ${String(writers).padStart(3)} at once: ${String(rate).padStart(6)} a second, ${(cpuMicros / count).toFixed(0).padStart(4)} µs of CPU each`,
    )
  }
}

/** Runs `writers` concurrent writers. Each records its next event when the previous one is durable. */
async function load(
  journal: Journal,
  writers: number,
  forSeconds: number,
): Promise<{ count: number; cpuMicros: number }> {
  const before = process.cpuUsage()
  const endMs = clock.monotonicMs() + forSeconds * 1000
  let count = 0
  const write = async (): Promise<void> => {
    while (clock.monotonicMs() < endMs) {
      await journal.record('org_1', requestFacts)
      count += 1
    }
  }
  await Promise.all(Array.from({ length: writers }, write))
  const { user, system } = process.cpuUsage(before)
  return { count, cpuMicros: user + system }
}

function requestFacts(): EventFacts {
  return {
    code: 'gateway.request.decided',
    organizationId: 'org_1',
    timeMs: clock.nowMs(),
    message: 'Answered by bench-model.',
    requestId: 'req_01k9z8y7x6w5v4t3s2r1q0p9n8',
    projectId: 'proj_01k9z8y7x6w5v4t3s2r1q0p9n8',
    actor: { userId: 'ada', credentialId: 'key_01k9z8y7x6w5v4t3s2r1q0p9n8' },
    call: {
      method: 'POST',
      path: '/v1/messages',
      address: '192.0.2.7',
      userAgent: 'curl/8',
      status: 200,
      latencyMs: 3,
    },
    verdict: { decision: 'allow', isEnforced: true },
    model: {
      provider: 'local',
      name: 'bench-model',
      inputTokens: 120,
      outputTokens: 340,
      finishReasons: ['end'],
      isStream: true,
      creditsUsed: 3,
      costUsd: 0.0021,
    },
  }
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))
  try {
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
