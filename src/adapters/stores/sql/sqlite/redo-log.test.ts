import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createSimulatedFile } from '../../../../../test/support/simulated-file.ts'
import { createRedoLog } from './redo-log.ts'
import { lastWrittenAfter, logIdOf, readRecords, type RedoStatement } from './redo-record.ts'

const logId = logIdOf(7)
const statement = (body: string): RedoStatement => ({
  sql: 'insert into item (body) values ($1)',
  params: [body],
  changed: 1,
})

describe('the redo log', () => {
  it('returns the records in order, with every kind of value', () => {
    const file = createSimulatedFile()
    const log = createRedoLog(file, logId)
    const values = [1, 2.5, 2n ** 60n, 'ä 😀', null, new Uint8Array([1, 2, 3])]
    const statements = [
      { sql: 'update item set body = $1', params: values, changed: 3 },
      statement('a'),
      statement('b'),
    ]
    log.append(statements)
    log.append([statement('c')])
    assert.deepEqual(readRecords(file.read(), logId), [
      { sequence: 1, statements },
      { sequence: 2, statements: [statement('c')] },
    ])
  })

  it('starts over at the beginning of the file, and does not return the records from before', () => {
    const file = createSimulatedFile()
    const log = createRedoLog(file, logId)
    for (const body of ['a', 'b', 'c']) log.append([statement(body)])
    const bytes = file.read().length
    log.startOver()
    log.append([statement('d')])
    assert.equal(file.read().length, bytes)
    assert.deepEqual(log.records(), [{ sequence: 4, statements: [statement('d')] }])
    assert.deepEqual(readRecords(file.read(), logId), log.records())
  })

  it('returns nothing of another log', () => {
    const file = createSimulatedFile()
    createRedoLog(file, logId).append([statement('a')])
    assert.deepEqual(readRecords(file.read(), logId + 1), [])
    assert.deepEqual(readRecords(Buffer.from('no log at all, but long enough for a header'), logId), [])
  })

  it('forgets a record that could not be written, and takes no other before it starts over', () => {
    const file = createSimulatedFile()
    const log = createRedoLog(file, logId)
    log.append([statement('a')])
    file.failAfter(40)
    assert.throws(() => log.append([statement('b')]), /no space/)
    assert.throws(() => log.append([statement('c')]), /incomplete/)
    assert.deepEqual(readRecords(file.read(), logId), [{ sequence: 1, statements: [statement('a')] }])
    log.startOver()
    log.append([statement('d')])
    assert.deepEqual(log.records(), [{ sequence: 3, statements: [statement('d')] }])
  })

  it('has a record that need not wait for the disk there with the next one that waits', () => {
    const file = createSimulatedFile()
    const log = createRedoLog(file, logId)
    const afterPowerLoss = (): unknown[] => readRecords(file.afterPowerLoss(() => false).read(), logId)
    log.append([statement('a')], { waitsForDisk: false })
    assert.deepEqual(readRecords(file.read(), logId).length, 1)
    assert.deepEqual(afterPowerLoss(), [])
    log.append([statement('b')])
    assert.equal(afterPowerLoss().length, 2)
  })

  it('loses no acknowledged record and invents none when power is lost at any moment', () => {
    const body = fc.string({ maxLength: 3_000 })
    const action: fc.Arbitrary<Action> = fc.oneof(
      { weight: 5, arbitrary: fc.record({ body, waitsForDisk: fc.constant(true) }) },
      { weight: 2, arbitrary: fc.record({ body, waitsForDisk: fc.constant(false) }) },
      { weight: 1, arbitrary: fc.constant('start over' as const) },
    )
    const run = fc.property(fc.array(action), fc.string({ maxLength: 3_000 }), fc.infiniteStream(fc.boolean()), lose)
    fc.assert(run)
  })
})

type Action = 'start over' | { readonly body: string; readonly waitsForDisk: boolean }

/** Appends and starts over, then loses power while one more record is written. */
function lose(actions: readonly Action[], last: string, survives: Iterator<boolean>): void {
  const file = createSimulatedFile()
  const log = createRedoLog(file, logId)
  let position = 0
  let written: string[] = []
  let durable = 0
  for (const action of actions) {
    if (action === 'start over') {
      position = log.sequence()
      written = []
      durable = 0
      log.startOver()
    } else {
      log.append([statement(action.body)], action)
      written.push(action.body)
      if (action.waitsForDisk) durable = written.length
    }
  }
  file.cutPower()
  assert.throws(() => log.append([statement(last)]), /power is off/)
  const found = file.afterPowerLoss(() => survives.next().value === true)
  const records = readRecords(found.read(), logId).filter(({ sequence }) => sequence > position)
  const bodies = records.map(({ statements }) => statements[0]?.params[0])
  assert.ok(bodies.length >= durable)
  assert.deepEqual(bodies, [...written, last].slice(0, bodies.length))
  assert.equal(lastWrittenAfter(position + bodies.length + 1, found.read(), logId), undefined)
}
