import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { publishKeys, signDueChains } from '../../src/adapters/stores/sql/audit/checkpoints.ts'
import { packChains } from '../../src/adapters/stores/sql/audit/pack.ts'
import { createPartitions, dropPartitions, listPartitions } from '../../src/adapters/stores/sql/audit/partitions.ts'
import { trimChains } from '../../src/adapters/stores/sql/audit/retention.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { withErrorMapping } from '../../src/adapters/stores/sql/error-mapping.ts'
import { migrate, readMigrations } from '../../src/adapters/stores/sql/migrate.ts'
import { openPostgres } from '../../src/adapters/stores/sql/postgres/postgres.ts'
import { oldestRows } from '../../src/adapters/stores/sql/storage-figures.ts'
import { dayMs, hourMs, minuteMs } from '../../src/base/clock.ts'
import { openAuditLog, setClock } from '../support/audit-log.ts'
import { addLaggingSink } from '../support/lagging-sink.ts'
import { closePglite, openPglite } from '../support/pglite.ts'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'

type Opened = { readonly database: Database; readonly url: string }

const migrations = await readMigrations(fileURLToPath(new URL('../../migrations', import.meta.url)))
/** The migration before the one that creates partitions. */
const withoutPartitions = migrations.slice(0, 40)
/** Events are written by the code of now, which has a column that a later migration adds. */
const laterColumns = ['error_code', 'resource_id']
const addLaterColumns = (database: Database) =>
  database.write(laterColumns.map((name) => ({ sql: `alter table audit_event add column ${name} text`, params: [] })))
const dropLaterColumns = (database: Database) =>
  database.write(laterColumns.map((name) => ({ sql: `alter table audit_event drop column ${name}`, params: [] })))

const servers = [
  {
    name: 'PGlite',
    skip: false as const,
    open: async (): Promise<Opened & AsyncDisposable> => {
      const database = await openPglite()
      return { database, url: '', [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() }
    },
  },
  { name: 'PostgreSQL', skip: withoutPostgres, open: openScratch },
]

after(closePglite)

async function openScratch(): Promise<Opened & AsyncDisposable> {
  const resources = new AsyncDisposableStack()
  const { url } = resources.use(await createScratchDatabase())
  const database = resources.use(await openPostgres({ url, answerTimeoutMs: 10_000 }))
  return { database, url, [Symbol.asyncDispose]: () => resources.disposeAsync() }
}

for (const { name, skip, open } of servers) {
  describe(`partitions of the audit log: ${name}`, { skip }, () => {
    it('are created for a week ahead, once', async () => {
      await using opened = await open()
      const scene = await openScene(opened.database)
      assert.deepEqual(await scene.create(), [])
      const names = await scene.names()
      assert.equal(names.length, 1 + 8)
      assert.deepEqual(await scene.create(), [])
      assert.deepEqual(await scene.names(), names)
      scene.log.clock.passMs(dayMs)
      await scene.create()
      assert.equal((await scene.names()).length, names.length + 1)
    })

    it('take the events of their day, and every read finds them', async () => {
      await using opened = await open()
      const scene = await openScene(opened.database)
      await scene.create()
      await scene.days(3)
      const rows = await scene.database.read<{ rows: number }>(
        `select count(*) as rows from audit_event group by tableoid order by 1`,
      )
      assert.deepEqual(
        rows.map((row) => row.rows),
        [4, 4, 4],
      )
      const { items } = await scene.log.reads.list('org_1', {}, { limit: 20, order: 'desc' })
      assert.deepEqual(
        items.map(({ sequence }) => sequence),
        [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
      )
      const period = { fromMs: scene.startMs + dayMs, toMs: scene.startMs + 2 * dayMs }
      const ofOneDay = await scene.log.reads.list('org_1', period, { limit: 20, order: 'asc' })
      assert.deepEqual(
        ofOneDay.items.map(({ sequence }) => sequence),
        [5, 6, 7, 8],
      )
      assert.equal((await scene.log.reads.find('org_1', items[3]?.id ?? ''))?.sequence, 9)
      assert.equal((await oldestRows(scene.database)).eventAtMs, scene.startMs)
      await scene.assertWhole()
    })

    it('are not created for a day of which the default partition has events, and the other days are', async () => {
      await using opened = await open()
      const scene = await openScene(opened.database)
      scene.log.clock.passMs(2 * dayMs)
      await scene.log.append(2)
      scene.log.clock.passMs(-2 * dayMs)
      const occupied = await scene.create()
      assert.deepEqual(
        occupied.map(({ fromMs }) => fromMs),
        [scene.startMs + 2 * dayMs],
      )
      assert.equal((await scene.names()).length, 1 + 7)
      assert.deepEqual(await scene.create(), [])
      await scene.days(8)
      assert.equal(await scene.countIn('audit_event_default'), 2 + 4)
      await scene.create() // for the event of the removal
      await scene.trim()
      assert.equal(await scene.countIn('audit_event_default'), 0)
      await scene.assertWhole()
    })

    it('are dropped when all their events have expired, with the texts and bodies of these events', async () => {
      await using opened = await open()
      const scene = await openScene(opened.database)
      await scene.create()
      await scene.days(6)
      await packChains(scene.database)
      const before = await scene.names()
      await scene.trim()
      assert.deepEqual(await scene.names(), before.slice(4))
      await scene.assertClean()
      await scene.assertWhole()
      assert.equal((await scene.log.verify()).first, 16)
    })

    it('of several days keep the rows of expired events until they are dropped, and no read finds these', async () => {
      await using opened = await open()
      const scene = await openScene(opened.database)
      // From any other day the first partition is narrower, so the test would differ from day to day.
      scene.log.clock.passMs(Math.ceil(scene.startMs / (3 * dayMs)) * 3 * dayMs - scene.startMs)
      await scene.create({ retentionDays: 180 })
      await scene.days(7)
      await packChains(scene.database)
      const before = await scene.names()
      const [first] = await scene.partitions({ isWide: true })
      await scene.trim({ keepMs: 4 * dayMs + hourMs * 12 })
      assert.deepEqual(await scene.names(), before.slice(1)) // without that of before the first day
      const expired = (await scene.log.verify()).first - 1
      assert.ok(expired > 0)
      assert.equal(await scene.countIn('audit_event', 'join audit_chain h on t.sequence < h.first_sequence'), expired)
      const texts = await scene.countIn('audit_content', 'join audit_chain h on t.sequence < h.first_sequence')
      assert.equal(texts, 0)
      const { items, hasMore } = await scene.log.reads.list('org_1', {}, { limit: 100, order: 'asc' })
      assert.deepEqual([items[0]?.sequence, hasMore], [expired + 1, false])
      const requests = await scene.log.reads.listRequests('org_1', {}, { limit: 1, order: 'asc' })
      assert.ok((requests.items[0]?.sequence ?? 0) > expired)
      const oldest = items[0]?.document.time ?? 0
      assert.equal((await oldestRows(scene.database)).eventAtMs, oldest)
      await scene.assertWhole()
      await scene.trim({ keepMs: dayMs })
      assert.equal((await scene.names()).includes(first?.name ?? ''), false)
    })

    it('are dropped although a few events were signed only on the next day, which are moved', async () => {
      await using opened = await open()
      const scene = await openScene(opened.database)
      await scene.create()
      await scene.days(5)
      await scene.log.append(1, { timeMs: scene.startMs + hourMs }, 'org_2')
      await scene.trim()
      assert.equal(await scene.countIn('audit_event_default'), 1)
      assert.equal((await scene.names()).includes(nameAt(scene.startMs)), false)
      await scene.assertWhole()
    })

    it('stay while they have more kept events than may be moved', async () => {
      await using opened = await open()
      const scene = await openScene(opened.database)
      await scene.create()
      await scene.days(5)
      await scene.log.append(3, { timeMs: scene.startMs + hourMs }, 'org_2')
      await scene.database.write([{ sql: `update audit_chain set first_sequence = 5 where organization_id = 'org_1'` }])
      const beforeMs = scene.startMs + dayMs
      assert.equal(await dropPartitions(scene.database, { beforeMs, maxMoved: 2 }), true)
      assert.ok((await scene.names()).includes(nameAt(scene.startMs)))
      assert.equal(await dropPartitions(scene.database, { beforeMs, maxMoved: 3 }), true)
      assert.equal((await scene.names()).includes(nameAt(scene.startMs)), false)
      assert.equal(await scene.countIn('audit_event_default'), 3)
    })

    it('keep the events of an organization with a slow sink, and not those of the others', async () => {
      await using opened = await open()
      const scene = await openScene(opened.database)
      await addLaggingSink(scene.database, { enabled: 1, sequence: 2 })
      await scene.create()
      await scene.days(6, ['org_1', 'org_2'])
      await scene.trim()
      const [first, second] = await Promise.all([scene.log.verify('org_1'), scene.log.verify('org_2')])
      assert.deepEqual([first.first, first.finding], [1, undefined])
      assert.deepEqual([second.first, second.finding], [16, undefined])
      await scene.assertClean()
    })

    it('were dropped by a process that ended before it removed the texts, which the next run removes', async () => {
      await using opened = await open()
      const scene = await openScene(opened.database)
      await scene.create()
      for (let day = 0; day < 6; day++) {
        await scene.log.append(130, { content: { full: { prompt: 'p' } } })
        await scene.days(1)
      }
      await packChains(scene.database)
      const [row] = await scene.database.read<{ first: number }>(
        'select sequence + 1 as first from audit_checkpoint order by sequence limit 1 offset 2',
      )
      const first = row?.first ?? assert.fail()
      await scene.database.write([{ sql: 'update audit_chain set first_sequence = $1', params: [first] }])
      await scene.database.write([{ sql: 'delete from audit_checkpoint where sequence < $1', params: [first - 1] }])
      assert.equal(await dropPartitions(scene.database, { beforeMs: scene.startMs + 2 * dayMs }), true)
      await scene.trim()
      await scene.assertClean()
      await scene.assertWhole()
    })

    it('replace the table of a filled database, and nothing is lost', async () => {
      await using opened = await open()
      const { database } = opened
      await migrate(database, withoutPartitions)
      const clock = setClock(Date.now() - 5 * dayMs)
      await addLaterColumns(database)
      const log = await openAuditLog(database, clock)
      await publishKeys(log.checkpoints)
      for (let day = 0; day < 5; day++) {
        await log.append(130, { content: { full: { prompt: 'p' } } })
        await log.append(3, { code: 'admin.project.created' }, 'org_2')
        await signDueChains(log.checkpoints)
        clock.passMs(dayMs)
      }
      await packChains(database)
      await dropLaterColumns(database)
      const stored = await database.read('select * from audit_event order by organization_id, sequence')
      const before = stored.map((row) => ({ ...row, error_code: null, resource_id: null }))
      assert.equal(await migrate(database, migrations), migrations.length - 40)
      assert.deepEqual(await database.read('select * from audit_event order by organization_id, sequence'), before)
      for (const id of ['org_1', 'org_2']) assert.equal((await log.verify(id)).finding, undefined)
      await log.append(2)
      const [partition] = await listPartitions((sql, params) => database.read(sql, params))
      assert.equal(partition?.name, 'audit_event_before')
      assert.ok(partition.toMs > Date.now() + dayMs && partition.toMs <= Date.now() + 2 * dayMs)
      assert.equal((await log.verify()).finding, undefined)
    })

    it('replace a table with events in the future', async () => {
      await using opened = await open()
      const { database } = opened
      await migrate(database, withoutPartitions)
      const futureMs = Date.now() + 40 * dayMs
      await addLaterColumns(database)
      const log = await openAuditLog(database, setClock(futureMs))
      await log.append(2)
      await dropLaterColumns(database)
      await migrate(database, migrations)
      const [partition] = await listPartitions((sql, params) => database.read(sql, params))
      assert.ok((partition?.toMs ?? 0) > futureMs)
    })
  })
}

describe('partitions of the audit log on several nodes', { skip: withoutPostgres }, () => {
  it('are created once if nodes do it at the same time', async () => {
    await using opened = await openScratch()
    const scene = await openScene(opened.database)
    await using other = await openPostgres({ url: opened.url })
    const options = { nowMs: scene.log.clock.nowMs(), retentionDays: 30 }
    const databases = [opened.database, other, opened.database, other]
    await Promise.all(databases.map((database) => createPartitions(database, options)))
    await scene.create()
    assert.equal((await scene.names()).length, 1 + 8)
  })

  it('are dropped in a later run if a long read holds the table, and appends go on meanwhile', async () => {
    await using opened = await openScratch()
    const scene = await openScene(withErrorMapping(opened.database))
    await scene.create()
    await scene.days(6)
    const before = await scene.names()
    const reader = new pg.Client({ connectionString: opened.url })
    await reader.connect()
    try {
      await reader.query('begin; select count(*) from audit_event')
      const [, appended] = await Promise.all([scene.trim(), scene.log.append(1)])
      assert.equal(appended, undefined)
      await scene.log.append(1)
      scene.log.clock.passMs(dayMs)
      assert.deepEqual(await scene.create(), []) // a lock that is not granted is no error
      scene.log.clock.passMs(-dayMs)
      assert.deepEqual(await scene.names(), before)
      await reader.query('commit')
    } finally {
      await reader.end()
    }
    await scene.trim()
    assert.equal((await scene.names()).length, before.length - 4)
    await scene.assertClean()
    await scene.assertWhole()
  })
})

const nameAt = (ms: number): string => `audit_event_${new Date(ms).toISOString().slice(0, 10).replaceAll('-', '')}`

/** A database whose clock is at the start of the first day with a partition of its own. */
async function openScene(database: Database) {
  await migrate(database, migrations)
  const query: Database['read'] = (sql, params) => database.read(sql, params)
  const [old] = await listPartitions(query)
  const startMs = old?.toMs ?? assert.fail()
  const log = await openAuditLog(database, setClock(startMs))
  await publishKeys(log.checkpoints)
  const countIn = async (table: string, where = ''): Promise<number> =>
    (await database.read<{ count: number }>(`select count(*) as count from ${table} t ${where}`))[0]?.count ?? 0
  return {
    database,
    log,
    startMs,
    countIn,
    create: ({ retentionDays = 30 } = {}) => createPartitions(database, { nowMs: log.clock.nowMs(), retentionDays }),
    names: async () => (await listPartitions(query)).map(({ name }) => name),
    partitions: async ({ isWide }: { readonly isWide: boolean }) =>
      (await listPartitions(query)).filter(({ fromMs, toMs }) => isWide === toMs - fromMs > dayMs && fromMs > 0),
    trim: ({ keepMs = 2 * dayMs } = {}) =>
      trimChains({ database, clock: log.clock, events: log.events, keepMs, maxBacklogMs: 14 * dayMs }),
    /** Three requests and a checkpoint for each of these days. */
    async days(count: number, organizations = ['org_1']) {
      for (let day = 0; day < count; day++) {
        for (const id of organizations) await log.append(3, { content: { full: { prompt: 'p' } } }, id)
        log.clock.passMs(minuteMs)
        await signDueChains(log.checkpoints)
        log.clock.passMs(dayMs - minuteMs)
      }
    },
    async assertClean() {
      const expired = (column: string): string =>
        `join audit_chain h on h.organization_id = t.organization_id and ${column} < h.first_sequence`
      for (const table of ['audit_event', 'audit_content', 'audit_body'])
        assert.equal(await countIn(table, expired('t.sequence')), 0, table)
      assert.equal(await countIn('audit_block', expired('(t.block + 1) * 128')), 0)
    },
    async assertWhole() {
      const { finding, checkpointFinding } = await log.verify()
      assert.deepEqual([finding, checkpointFinding], [undefined, undefined])
    },
  }
}
