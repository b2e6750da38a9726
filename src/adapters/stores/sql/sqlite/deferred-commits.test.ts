import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createSimulatedFile } from '../../../../../test/support/simulated-file.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { openConnection } from './connection.ts'
import { createDeferredCommits } from './deferred-commits.ts'
import type { StatementList } from './protocol.ts'
import { createRedoLog } from './redo-log.ts'
import { logIdOf, readRecords } from './redo-record.ts'

const logId = logIdOf(7)
const insert = (id: string): StatementList => [{ sql: 'insert into item (id) values ($1)', params: [id] }]

describe('deferred commits', () => {
  it('acknowledge a group once the redo log has it, and commit it later with others', async () => {
    await using scene = await openScene()
    const { groups, file } = scene
    assert.deepEqual(groups.runGroup([insert('a'), insert('b')]).map(isDone), [true, true])
    assert.deepEqual(groups.runGroup([insert('c')]).map(isDone), [true])
    assert.equal(readRecords(file.read(), logId).length, 2)
    assert.deepEqual(scene.committed(), [])
    assert.deepEqual(scene.seen(), ['a', 'b', 'c'])
    groups.flush()
    assert.deepEqual(scene.committed(), ['a', 'b', 'c'])
    assert.equal(groups.isPending(), false)
  })

  it('keep the earlier groups when a step fails, and the other steps of its group', async () => {
    await using scene = await openScene()
    scene.groups.runGroup([insert('a')])
    assert.deepEqual(scene.groups.runGroup([insert('b'), insert('a'), insert('c')]).map(isDone), [true, false, true])
    assert.deepEqual(scene.committed(), ['a', 'b', 'c'])
  })

  it('repeat a transaction that SQLite rolled back', async () => {
    await using scene = await openScene()
    scene.groups.runGroup([insert('a')])
    scene.database.exec('rollback')
    assert.deepEqual(scene.seen(), [])
    scene.groups.restore()
    assert.deepEqual(scene.seen(), ['a'])
    scene.database.exec('rollback')
    scene.groups.runGroup([insert('b')])
    scene.database.exec('rollback')
    scene.groups.flush()
    assert.deepEqual(scene.committed(), ['a', 'b'])
  })

  it('stay pending if the commit fails, and are committed when it is possible again', async () => {
    await using scene = await openScene()
    scene.groups.runGroup([insert('a')])
    scene.database.exec('rollback')
    scene.other.exec('begin immediate')
    assert.throws(() => scene.groups.flush(), /locked/)
    assert.deepEqual(scene.groups.runGroup([insert('b')]).map(isDone), [false])
    assert.equal(scene.groups.isPending(), true)
    scene.other.exec('rollback')
    scene.groups.flush()
    assert.deepEqual(scene.committed(), ['a'])
  })

  it('commit at once if the redo log cannot be written', async () => {
    await using scene = await openScene()
    scene.groups.runGroup([insert('a')])
    scene.file.failAfter(30)
    assert.deepEqual(scene.groups.runGroup([insert('b')]).map(isDone), [true])
    assert.deepEqual(scene.committed(), ['a', 'b'])
    scene.groups.runGroup([insert('c')])
    assert.deepEqual(
      readRecords(scene.file.read(), logId).map(({ sequence }) => sequence),
      [3],
    )
  })

  it('commit a change of the schema at once, after the groups before it', async () => {
    await using scene = await openScene()
    scene.groups.runGroup([insert('a')])
    scene.groups.runGroup([[{ sql: 'alter table item add column body text' }]])
    assert.deepEqual(scene.committed(), ['a'])
    assert.equal(scene.groups.isPending(), false)
  })

  it('leave no transaction open after a group that changed nothing', async () => {
    await using scene = await openScene()
    scene.groups.runGroup([[{ sql: 'select id from item' }], [{ sql: 'delete from item' }]])
    assert.equal(scene.database.isTransaction, false)
    assert.equal(scene.groups.isPending(), false)
  })
})

const isDone = (outcome: object): boolean => 'results' in outcome

async function openScene() {
  await using opened = new AsyncDisposableStack()
  const folder = opened.use(await temporaryFolder())
  const open = (): DatabaseSync => opened.use(new DatabaseSync(join(folder.path, 'test.db'), { timeout: 10 }))
  const database = open()
  database.exec('pragma journal_mode = wal; create table item (id text primary key) strict')
  database.exec('create table redo_position (sequence integer not null) strict; insert into redo_position values (0)')
  const other = open()
  const file = createSimulatedFile()
  const groups = createDeferredCommits(openConnection(database), createRedoLog(file, logId))
  const idsIn = (source: DatabaseSync): unknown[] =>
    source
      .prepare('select id from item order by id')
      .all()
      .map(({ id }) => id)
  const kept = opened.move()
  return {
    database,
    other,
    file,
    groups,
    /** Ids in the open transaction. */
    seen: () => idsIn(database),
    committed: () => idsIn(other),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
