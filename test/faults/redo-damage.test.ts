import assert from 'node:assert/strict'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { writeBackup } from '../../src/adapters/stores/sql/sqlite/backup.ts'
import { startTestApp } from '../support/app.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const longPending = { hasRedoLog: true, flushAfterMs: 600_000 }
const insert = (id: string) => ({ sql: 'insert into item (id) values ($1)', params: [id] })

/** The folder that a crash leaves: five acknowledged steps, the first of them committed. */
async function crashedFolder() {
  const [live, folder] = [await temporaryFolder(), await temporaryFolder()]
  {
    await using database = await openSqlite({ dataDir: live.path, ...longPending })
    await database.write([{ sql: 'create table item (id text primary key) strict' }])
    await database.write([insert('a')])
    await database.transaction(async () => undefined) // commits what is pending
    for (const id of ['b', 'c', 'd', 'e']) await database.write([insert(id)])
    cpSync(live.path, folder.path, { recursive: true })
  }
  await live[Symbol.asyncDispose]()
  const log = join(folder.path, 'gatehouse.db-redo')
  return { ...folder, log, items: (options?: object) => itemsOf(folder.path, options) }
}

async function itemsOf(dataDir: string, options: object = {}): Promise<string[]> {
  await using database = await openSqlite({ dataDir, hasRedoLog: true, ...options })
  const rows = await database.read<{ id: string }>('select id from item order by id')
  return rows.map(({ id }) => id)
}

/** Changes one byte of the record that inserts this item. */
function damage(log: string, id: string): void {
  const bytes = readFileSync(log)
  const at = bytes.indexOf(Buffer.from([1, 1, 0, 0, 0, id.charCodeAt(0)])) // a text of one byte
  assert.notEqual(at, -1)
  bytes[at + 5] = (bytes[at + 5] ?? 0) ^ 1
  writeFileSync(log, bytes)
}

const damages: Readonly<Record<string, (log: string) => void>> = {
  'a changed byte in the first record': (log) => damage(log, 'b'),
  'a changed byte in a record before the last': (log) => damage(log, 'd'),
  'a file that was cut between two records': (log) => truncateSync(log, readFileSync(log).indexOf('e') - 60),
  'an empty file': (log) => truncateSync(log, 0),
  'a file of zeros': (log) => writeFileSync(log, Buffer.alloc(readFileSync(log).length)),
  'a missing file': (log) => rmSync(log),
}

describe('a redo log that is damaged after a crash', () => {
  for (const [name, apply] of Object.entries(damages)) {
    it(`prevents the start and changes nothing: ${name}`, async () => {
      await using folder = await crashedFolder()
      apply(folder.log)
      const before = existsSync(folder.log) ? readFileSync(folder.log) : undefined
      for (let time = 0; time < 2; time++) await assert.rejects(folder.items(), /redo log.*--accept-loss/s)
      assert.deepEqual(existsSync(folder.log) ? readFileSync(folder.log) : undefined, before)
      await assert.rejects(
        writeBackup(folder.path, join(folder.path, 'copy'), {
          createdAtMs: 1,
          version: '0',
          secretCheck: '',
          secretFiles: {},
        }),
        /redo log/,
      )
    })

    it(`is accepted on demand, reported once, and kept as it was found: ${name}`, async () => {
      await using folder = await crashedFolder()
      apply(folder.log)
      const kept = await folder.items({ acceptsLoss: true })
      assert.deepEqual(kept.slice(0, 1), ['a'])
      assert.ok(kept.length < 5)
      const database = new DatabaseSync(join(folder.path, 'gatehouse.db'))
      const losses = database.prepare('select groups, description from redo_loss').all()
      database.close()
      assert.equal(losses.length, 1)
      if (name.startsWith('a changed byte')) assert.equal(losses[0]?.['groups'], 5 - kept.length)
      assert.equal(
        readdirSync(folder.path).some((file) => file.includes('damaged')),
        name !== 'a missing file',
      )
      assert.deepEqual(await folder.items(), kept)
    })
  }

  it('is reported in the audit log of the server that starts without it', async () => {
    await using folder = await temporaryFolder()
    await using live = await startTestApp()
    const question = { model: 'gatehouse-echo', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }
    for (let at = 0; at < 4; at++) assert.equal((await live.post('/v1/messages', question)).status, 200)
    cpSync(live.dataDir, folder.path, { recursive: true, filter: (path) => !path.endsWith('.sock') })
    rmSync(join(folder.path, 'gatehouse.db-redo'))
    const options = { storage: { data_dir: folder.path }, isFirst: false }
    await assert.rejects(startTestApp(options), /the redo log .* is damaged: the file is missing.*--accept-loss/s)
    {
      await using accepted = await startTestApp({ ...options, acceptsLoss: true })
      const answer = await accepted.get('/v1/organization/audit_logs?kind=audit.loss_accepted', {
        authorization: `Bearer ${live.adminKey}`,
      })
      const { data } = (await answer.json()) as { data: { message: string }[] }
      assert.deepEqual(
        data.map(({ message }) => message),
        [
          'After a crash the redo log was damaged, and the operator started without an unknown number of writes that had been acknowledged.',
        ],
      )
    }
    await using _again = await startTestApp(options)
  })

  it('is a normal end if only the last record is incomplete', async () => {
    await using folder = await crashedFolder()
    damage(folder.log, 'e')
    assert.deepEqual(await folder.items(), ['a', 'b', 'c', 'd'])
  })

  it('does not prevent a start after a regular stop, whatever file is found', async () => {
    await using folder = await crashedFolder()
    assert.deepEqual(await folder.items(), ['a', 'b', 'c', 'd', 'e'])
    assert.equal(existsSync(folder.log), false)
    writeFileSync(folder.log, 'anything')
    assert.deepEqual(await folder.items(), ['a', 'b', 'c', 'd', 'e'])
  })

  it('of the previous version is repeated, and may be missing', async () => {
    await using folder = await crashedFolder()
    await folder.items()
    const database = new DatabaseSync(join(folder.path, 'gatehouse.db'))
    database.exec('insert into redo_position (log_id, sequence) values (7, 3)')
    database.close()
    assert.deepEqual(await folder.items(), ['a', 'b', 'c', 'd', 'e'])
  })
})
