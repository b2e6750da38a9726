import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { hasReason } from '../support/database-errors.ts'
import { createFastClock } from '../support/fast-clock.ts'
import { answerWith, question, startPaidApp } from '../support/paid-app.ts'
import { canMount, fillUp, mountSmallDisk } from '../support/small-disk.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const kilobytes = (count: number) => 'x'.repeat(count * 1024)

const insert = (id: string, body: string) => ({
  sql: 'insert into item (id, body) values ($1, $2)',
  params: [id, body],
})

for (const hasRedoLog of [false, true]) {
  describe(`SQLite on a full disk${hasRedoLog ? ' with a redo log' : ''}`, () => {
    it('reports storage_full, keeps nothing of the step, still reads, and recovers when space returns', async () => {
      await using folder = await temporaryFolder()
      await using database = await openSqlite({ dataDir: folder.path, maxPages: 25, hasRedoLog })
      await createItems(database)
      await database.write([insert('ballast', kilobytes(100))])
      await assert.rejects(database.write([insert('small', 'x'), insert('large', kilobytes(150))]), hasReason('full'))
      await assert.rejects(
        database.transaction((tx) => tx.run(insert('large', '').sql, ['large', kilobytes(150)])),
        hasReason('full'),
      )
      assert.deepEqual(await idsOf(database), ['ballast'])
      await database.write([{ sql: 'delete from item' }])
      await database.write([insert('large', kilobytes(150))])
      assert.deepEqual(await idsOf(database), ['large'])
    })

    it('keeps the other steps of the group of one that was too large', async () => {
      await using folder = await temporaryFolder()
      await using database = await openSqlite({ dataDir: folder.path, maxPages: 25, hasRedoLog })
      await createItems(database)
      const outcomes = await Promise.allSettled([
        database.write([insert('a', 'x')]),
        database.write([insert('too large', kilobytes(400))]),
        database.write([insert('b', 'x')]),
      ])
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      )
      assert.deepEqual(await idsOf(database), ['a', 'b'])
    })
  })
}

// These need their own file system, which only root may mount.
if (canMount()) {
  describe('SQLite on a small disk', () => {
    for (const hasRedoLog of [false, true]) {
      it(`rejects writes while the disk is full, still reads, and recovers without a restart${hasRedoLog ? ', with a redo log' : ''}`, async () => {
        await using disk = await mountSmallDisk()
        await using database = await openSqlite({ dataDir: disk.path, hasRedoLog })
        await createItems(database)
        await database.write([insert('before', 'x')])
        fillUp(join(disk.path, 'ballast'))
        const rejected = await fillUntilRejected(database)
        assert.ok(hasReason('full')(rejected))
        const group = await Promise.allSettled(['x', 'y', 'z'].map((id) => database.write([insert(id, kilobytes(16))])))
        assert.ok(group.every((outcome) => outcome.status === 'rejected' && hasReason('full')(outcome.reason)))
        const known = await idsOf(database)
        assert.ok(known.includes('before'))
        assert.deepEqual(
          await database.report('select id from item order by rowid'),
          known.map((id) => ({ id })),
        )
        rmSync(join(disk.path, 'ballast'))
        await database.write([insert('after', 'x')])
        assert.deepEqual(await idsOf(database), [...known, 'after'])
        assert.deepEqual(await database.read('pragma integrity_check'), [{ integrity_check: 'ok' }])
      })
    }

    it('makes the server not ready, and rejects requests before their upstream is called, until space returns', async () => {
      await using disk = await mountSmallDisk()
      await using scene = await startPaidApp({ storage: { data_dir: disk.path }, clock: createFastClock(20) })
      scene.upstream.answer(answerWith('Hello', { input: 12, output: 3 }))
      const send = (): Promise<Response> => scene.app.post('/v1/messages', question)
      const ready = (): Promise<Response> => scene.app.get('/health/ready')
      assert.equal((await send()).status, 200)
      assert.deepEqual(await (await ready()).json(), { status: 'ready' })

      fillUp(join(disk.path, 'ballast'))
      await until(async () => (await ready()).status === 503)
      assert.match(
        await (await ready()).text(),
        /"not_ready","failing":\[{"part":"storage","problem":"The disk of .* is full/,
      )
      const calls = scene.upstream.requests.length
      const rejected = await send()
      assert.equal(rejected.status, 503)
      assert.ok(Number(rejected.headers.get('retry-after')) >= 1)
      assert.match(await rejected.text(), /disk of .* is full/)
      assert.equal(scene.upstream.requests.length, calls)

      rmSync(join(disk.path, 'ballast'))
      await until(async () => (await ready()).status === 200)
      // A background write that failed before space returned may be reported only now; the next probe follows.
      await until(async () => (await send()).status === 200)
    })
  })
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Writes until the disk is full. Everything acknowledged must be there, and nothing that was rejected. */
async function fillUntilRejected(database: Database): Promise<unknown> {
  for (let count = 0; ; count++) {
    try {
      await database.write([insert(`fill ${count}`, kilobytes(16))])
    } catch (error) {
      const filled = (await idsOf(database)).filter((id) => id.startsWith('fill'))
      assert.equal(filled.length, count)
      return error
    }
  }
}

async function createItems(database: Database): Promise<void> {
  await database.write([{ sql: 'create table item (id text primary key, body text) strict' }])
}

async function idsOf(database: Database): Promise<string[]> {
  const rows = await database.read<{ id: string }>('select id from item order by rowid')
  return rows.map(({ id }) => id)
}
