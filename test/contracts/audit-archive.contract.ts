import assert from 'node:assert/strict'
import { readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { folderArchive } from '../../src/adapters/archive/folder.ts'
import { readArchiveCopy } from '../../src/adapters/archive/archive-copy.ts'
import type { Archive } from '../../src/adapters/stores/sql/audit/archive.ts'
import { isProven } from '../../src/app/audit-verification.ts'
import { verifyArchive } from '../../src/domain/audit/archive/verify-archive.ts'
import { presentLogReport } from '../../src/http/operator/audit-log.ts'
import { archiveStore } from '../../src/adapters/stores/sql/audit/archived-objects.ts'
import { publishKeys, signDueChains } from '../../src/adapters/stores/sql/audit/checkpoints.ts'
import { ArchiveFailed, trimChains } from '../../src/adapters/stores/sql/audit/retention.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { readManifest } from '../../src/domain/audit/archive/manifest.ts'
import type { ArchiveTarget } from '../../src/domain/audit/archive/target.ts'
import { openAuditLog, type SetClock } from '../support/audit-log.ts'
import type { Engine } from '../support/engines.ts'
import { addLaggingSink } from '../support/lagging-sink.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const dayMs = 24 * 60 * 60_000

/** Events are archived before retention removes them, on every engine. */
export function auditArchiveContract({ name, skip, open }: Engine): void {
  describe(`audit archive: ${name}`, { skip }, () => {
    it('writes an object and a manifest for each day, removes what is archived, and lists it', async () => {
      await using scene = await openScene(open)
      await scene.days(6)
      const lines = await scene.lines()
      await scene.trim()
      const { firstSequence } = (await scene.log.reads.chainState('org_1')) ?? assert.fail()
      const objects = await scene.objects()
      assert.deepEqual(
        objects.map(({ day, first, last }) => [day, first, last]),
        [
          ['2026-01-01', 1, 3],
          ['2026-01-02', 4, 7],
          ['2026-01-03', 8, 11],
        ],
      )
      assert.equal(firstSequence, 12)
      assert.equal(await scene.countBefore(12), 0)
      assert.deepEqual(await scene.files(), [
        'org_1/2026/01/01/000000000001-000000000003.manifest.json',
        'org_1/2026/01/01/000000000001-000000000003.ndjson.zst',
        'org_1/2026/01/02/000000000004-000000000007.manifest.json',
        'org_1/2026/01/02/000000000004-000000000007.ndjson.zst',
        'org_1/2026/01/03/000000000008-000000000011.manifest.json',
        'org_1/2026/01/03/000000000008-000000000011.ndjson.zst',
      ])
      const archived = await Promise.all(objects.map(({ name: object }) => scene.linesIn(object)))
      assert.deepEqual(archived.flat(), lines.slice(0, 11))
      const manifest = await scene.manifest(objects[1]?.name)
      assert.deepEqual(
        [manifest.sha256, manifest.previous, manifest.count, manifest.checkpoints.map(({ sequence }) => sequence)],
        [objects[1]?.sha256, objects[0]?.sha256, 4, [7]],
      )
      assert.deepEqual([(await scene.log.verify()).finding, await scene.trim()], [undefined, 0])
    })

    it('writes files that only their owner can read, and leaves no temporary file', async () => {
      await using scene = await openScene(open)
      await scene.days(6)
      await scene.trim()
      for (const file of await scene.files())
        assert.equal((await stat(join(scene.folder, file))).mode & 0o777, 0o600, file)
    })

    it('leaves texts out', async () => {
      await using scene = await openScene(open)
      await scene.days(6)
      await scene.trim()
      for (const { name: object } of await scene.objects())
        assert.doesNotMatch((await scene.linesIn(object)).join(''), /planted/)
    })

    it('removes nothing while the archive cannot be written, and continues afterwards', async () => {
      await using scene = await openScene(open)
      await scene.days(6)
      await rename(scene.folder, `${scene.folder}.away`)
      await assert.rejects(scene.trim(), (error) => error instanceof ArchiveFailed && /no folder/.test(error.message))
      assert.equal(await scene.countBefore(12), 11)
      assert.deepEqual(await scene.objects(), [])
      await rename(`${scene.folder}.away`, scene.folder)
      await scene.trim()
      assert.equal(await scene.countBefore(12), 0)
    })

    it('archives and removes the events of other organizations if one cannot be archived', async () => {
      await using scene = await openScene(open)
      const { log } = scene
      await scene.days(6, ['org_1', 'org_2'])
      const target = failingAt(scene.target, (object) => object.startsWith('org_1/'))
      await assert.rejects(scene.trim({ target }), /org_1 cannot be archived.*the archive is full/)
      const starts = await Promise.all(
        ['org_1', 'org_2'].map(async (id) => (await log.reads.chainState(id))?.firstSequence),
      )
      assert.deepEqual(starts, [1, 12])
    })

    it('repeats the same objects after it was interrupted at any write', async () => {
      for (const failing of [1, 2, 3, 4, 5, 6]) {
        await using scene = await openScene(open)
        await scene.days(6)
        let writes = 0
        const target = failingAt(scene.target, () => ++writes === failing)
        await assert.rejects(scene.trim({ target }), ArchiveFailed)
        scene.log.clock.passMs(dayMs / 2)
        await scene.trim()
        const ranges = (await scene.objects()).map(({ first, last }) => [first, last])
        assert.deepEqual(ranges, [
          [1, 3],
          [4, 7],
          [8, 11],
        ])
        assert.equal((await scene.files()).length, 6)
      }
    })

    it('repeats an object that was written although the process ended before it knew', async () => {
      await using scene = await openScene(open)
      await scene.days(6)
      const target = {
        ...scene.target,
        create: async (object: string, bytes: Uint8Array) => {
          await scene.target.create(object, bytes)
          throw new Error('killed')
        },
      }
      await assert.rejects(scene.trim({ target }), /killed/)
      await assert.rejects(scene.trim({ target }), /killed/)
      await scene.trim()
      assert.equal((await scene.objects()).length, 3)
    })

    it('keeps the range of an interrupted object if a sink has read more since', async () => {
      await using scene = await openScene(open)
      await addLaggingSink(scene.database, { enabled: 1, sequence: 7 })
      await scene.days(6)
      const failing = failingAt(scene.target, (object) => object.includes('000000000004-'))
      await assert.rejects(scene.trim({ target: failing }), ArchiveFailed)
      await scene.database.write([{ sql: 'update export_cursor set sequence = 100' }])
      await scene.trim()
      const ranges = (await scene.objects()).map(({ first, last }) => [first, last])
      assert.deepEqual(ranges.slice(0, 2), [
        [1, 3],
        [4, 7],
      ])
    })

    it('accepts an object with the same events that another compressor wrote', async () => {
      await using scene = await openScene(open)
      await scene.days(6)
      const failing = failingAt(scene.target, (object) => object.endsWith('.manifest.json'))
      await assert.rejects(scene.trim({ target: failing }), ArchiveFailed)
      const [file = ''] = await scene.files()
      const text = zstdDecompressSync(await readFile(join(scene.folder, file)))
      const other = Buffer.concat([zstdCompressSync(text.subarray(0, 10)), zstdCompressSync(text.subarray(10))])
      await writeFile(join(scene.folder, file), other)
      await scene.trim()
      const [object] = await scene.objects()
      assert.deepEqual([object?.bytes, (await scene.manifest(object?.name)).sha256], [other.length, object?.sha256])
    })

    it('never replaces an object or a manifest with other content, and removes nothing', async () => {
      for (const foreign of ['.ndjson.zst', '.manifest.json']) {
        await using scene = await openScene(open)
        await scene.days(6)
        const failing = failingAt(
          scene.target,
          (object) => object.includes('000000000004-') && object.endsWith('.manifest.json'),
        )
        await assert.rejects(scene.trim({ target: failing }), ArchiveFailed)
        const object = 'org_1/2026/01/02/000000000004-000000000007'
        await writeFile(join(scene.folder, object + foreign), 'something else')
        await assert.rejects(scene.trim(), /with other content/)
        assert.equal(await readFile(join(scene.folder, object + foreign), 'utf8'), 'something else')
        assert.equal((await scene.log.reads.chainState('org_1'))?.firstSequence, 4)
        await rm(join(scene.folder, object + foreign))
        await scene.trim()
        assert.equal((await scene.objects()).length, 3)
      }
    })

    it('waits for a sink with a backlog as before', async () => {
      await using scene = await openScene(open)
      await addLaggingSink(scene.database, { enabled: 1, sequence: 7 })
      await scene.days(6)
      await scene.trim()
      assert.deepEqual((await scene.objects()).at(-1)?.last, 7)
      assert.equal((await scene.log.reads.chainState('org_1'))?.firstSequence, 8)
    })

    it('does not archive a damaged event, and so keeps it', async () => {
      for (const damage of [
        `update audit_body set body = replace(body, '"sequence":5', '"sequence":6') where sequence = 5`,
        `update audit_body set body = replace(body, '"severity_id":1', '"severity_id":2') where sequence = 5`,
        'delete from audit_body where sequence = 5',
        'delete from audit_event where sequence = 5',
      ]) {
        await using scene = await openScene(open)
        await scene.days(6)
        await scene.database.write([{ sql: damage }])
        await assert.rejects(scene.trim(), /event 5 of the audit log is damaged/)
        assert.equal((await scene.log.reads.chainState('org_1'))?.firstSequence, 4)
      }
    })

    it('continues after a time without an archive with what the log still has', async () => {
      await using scene = await openScene(open)
      await scene.days(5)
      await scene.trim()
      await scene.days(2)
      await trimChains({ ...scene.retention, archive: undefined })
      await scene.days(2)
      await scene.trim()
      const ranges = (await scene.objects()).map(({ first, last }) => [first, last])
      assert.deepEqual(ranges.slice(0, 2), [
        [1, 3],
        [4, 7],
      ])
      assert.ok((ranges[2]?.[0] ?? 0) > 8, JSON.stringify(ranges))
    })

    it('continues although an object was planned before the archive was turned off', async () => {
      await using scene = await openScene(open)
      await scene.days(6)
      const failing = failingAt(scene.target, () => true)
      await assert.rejects(scene.trim({ target: failing }), ArchiveFailed)
      await trimChains({ ...scene.retention, archive: undefined })
      await scene.days(2)
      await scene.trim()
      const [object] = await scene.objects()
      assert.ok((object?.first ?? 0) > 3, JSON.stringify(object))
    })

    it('splits a day with many events, and removes only up to a checkpoint that is archived', async () => {
      await using scene = await openScene(open)
      await scene.days(6)
      const lines = await scene.lines()
      const failing = failingAt(scene.target, (object) => object.includes('000000000007-'))
      await assert.rejects(scene.trim({ target: failing, maxEvents: 3 }), ArchiveFailed)
      assert.equal((await scene.log.reads.chainState('org_1'))?.firstSequence, 4)
      await scene.trim({ maxEvents: 3 })
      const objects = await scene.objects()
      assert.deepEqual(
        objects.map(({ day, first, last }) => [day, first, last]),
        [
          ['2026-01-01', 1, 3],
          ['2026-01-02', 4, 6],
          ['2026-01-02', 7, 7],
          ['2026-01-03', 8, 10],
          ['2026-01-03', 11, 11],
        ],
      )
      const archived = await Promise.all(objects.map(({ name: object }) => scene.linesIn(object)))
      assert.deepEqual(archived.flat(), lines.slice(0, 11))
      assert.deepEqual((await scene.manifest(objects[1]?.name)).checkpoints, [])
      assert.ok(isProven(await scene.verify()))
    })

    it('writes each object once if several nodes try at the same time', async () => {
      await using scene = await openScene(open)
      await scene.log.append(300)
      await scene.days(6)
      await Promise.all([scene.trim({ maxEvents: 50 }), scene.trim({ maxEvents: 50 }), scene.trim({ maxEvents: 50 })])
      const objects = await scene.objects()
      assert.deepEqual([objects.length, objects.at(-1)?.last], [9, 311])
      assert.equal((await scene.files()).length, 18)
      assert.ok(isProven(await scene.verify()))
    })

    it('writes several pages of events into one object', async () => {
      await using scene = await openScene(open)
      await scene.log.append(300)
      await scene.days(6)
      const lines = await scene.lines()
      await scene.trim()
      const [object] = await scene.objects()
      assert.deepEqual([object?.first, object?.last], [1, 303])
      assert.deepEqual(await scene.linesIn(object?.name), lines.slice(0, 303))
    })
  })
}

/** A target whose writes fail where the condition holds. */
const failingAt = (target: ArchiveTarget, isFailing: (name: string) => boolean): ArchiveTarget => ({
  ...target,
  create: async (name, bytes) => {
    if (isFailing(name)) throw new Error('the archive is full')
    return target.create(name, bytes)
  },
})

async function openScene(open: () => Promise<Database>) {
  const resources = new AsyncDisposableStack()
  const database = resources.use(await open())
  const { path: folder } = resources.use(await temporaryFolder())
  const log = await openAuditLog(database)
  await publishKeys(log.checkpoints)
  const ids = createIds(log.clock, systemRandom)
  const target = folderArchive(folder, ids)
  const archive = { target, ids, keys: log.checkpoints.keys, onArchived: () => {} }
  const retention = {
    database,
    clock: { ...log.clock, after: firedAtOnce },
    events: log.events,
    keepMs: 3 * dayMs,
    maxBacklogMs: 14 * dayMs,
    archive,
  }
  return {
    database,
    log,
    folder,
    target,
    retention,
    /** Verifies the folder as its own log, and that the log continues it. */
    async verify() {
      const written = await archiveStore({ query: (sql, params) => database.read(sql, params) }).list('org_1', {
        limit: 100,
        order: 'asc',
      })
      const { log: report, archive: found } = await verifyArchive(await readArchiveCopy(folder, 'org_1'), {
        keys: log.verifyInput().keys,
        handoversOf: (id) => log.reads.handovers(id),
        written: written.items.map(({ name }) => name),
        read: async ({ after, to }) => ({
          organization: 'org_1',
          ...(await log.reads.fingerprints('org_1', { after, last: to })),
        }),
        readBody: async (sequence) => (await log.reads.rows('org_1', { after: sequence - 1, limit: 1 }))[0]?.body,
      })
      return { report: presentLogReport('org_1', report), archive: found }
    },
    trim: (changed: Partial<Archive> = {}) => trimChains({ ...retention, archive: { ...archive, ...changed } }),
    /** Events and a checkpoint for each of these days. */
    async days(count: number, organizations = ['org_1']) {
      for (let day = 0; day < count; day++) {
        for (const id of organizations) await log.append(3, { content: { full: { prompt: 'planted' } } }, id)
        await signDueChains(log.checkpoints)
        log.clock.passMs(dayMs)
      }
    },
    lines: async () => (await log.reads.rows('org_1', { after: 0, limit: 10_000 })).map(({ body }) => body),
    objects: async () => {
      const store = archiveStore({ query: (sql, params) => database.read(sql, params) })
      return (await store.list('org_1', { limit: 100, order: 'asc' })).items
    },
    linesIn: async (name = '') =>
      zstdDecompressSync(await readFile(join(folder, name)))
        .toString()
        .trimEnd()
        .split('\n'),
    manifest: async (name = '') =>
      readManifest(await readFile(join(folder, name.replace('.ndjson.zst', '.manifest.json')), 'utf8')) ??
      assert.fail(),
    files: async () => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile())
      return files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).sort()
    },
    countBefore: async (sequence: number) => {
      const sql = `select count(*) as count from audit_event where organization_id = 'org_1' and sequence < $1`
      return (await database.read<{ count: number }>(sql, [sequence]))[0]?.count
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** Timers of the archive fire at once, while the clock stands still. */
const firedAtOnce: SetClock['after'] = (_delayMs, callback) => {
  const handle = setImmediate(callback)
  return () => clearImmediate(handle)
}
