import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../test/support/hand-clock.ts'
import { Fault } from './fault.ts'
import { createStorageHealth } from './storage-health.ts'

const full = new Fault('unavailable', 'storage_full', 'full')
const away = new Fault('unavailable', 'storage_unavailable', 'away')

/** A database and a disk that fail when the test says so. */
function createScene(hasSpool: boolean) {
  const time = createHandClock()
  const failures: { database?: Fault; disk?: Fault } = {}
  const asked: string[] = []
  const writes = (place: 'database' | 'disk') => async (wasFailing?: boolean) => {
    asked.push(wasFailing ? `${place} in full` : place)
    if (failures[place]) throw failures[place]
  }
  const health = createStorageHealth({
    hasSpool,
    clock: time.clock,
    writeDatabase: async () => writes('database')(),
    writeDisk: writes('disk'),
  })
  return { health, failures, asked, ...time }
}

describe('the health of storage', () => {
  it('probes the disk regularly, and the database only after a failure', async () => {
    const { health, asked, pass } = createScene(false)
    await health.probe()
    await pass(5_000)
    assert.deepEqual(asked, ['disk', 'disk'])
    assert.equal(health.refusal(), undefined)
  })

  it('detects a full disk by a failed write, and its end by probes as large as a request', async () => {
    const { health, failures, asked, pass } = createScene(false)
    await health.probe()
    Object.assign(failures, { database: full, disk: full })
    health.failed(full)
    assert.equal(health.refusal(), full)
    await pass(1_000)
    assert.equal(health.refusal(), full)
    Object.assign(failures, { database: undefined, disk: undefined })
    await pass(1_000)
    assert.equal(health.refusal(), undefined)
    assert.deepEqual(asked, ['disk', 'disk', 'database', 'disk in full', 'database'])
  })

  it('does not treat one failed statement as an outage', async () => {
    const { health, pass } = createScene(false)
    await health.probe()
    health.failed(away)
    await pass(0)
    assert.equal(health.refusal(), undefined)
  })

  it('reports an outage that a probe confirms, until something is written', async () => {
    const { health, failures, pass } = createScene(false)
    failures.database = away
    health.failed(away)
    await pass(0)
    assert.equal(health.database(), away)
    health.written()
    assert.equal(health.database(), undefined)
  })

  it('rejects no request while the spool can be written, and rejects them if neither can', async () => {
    const { health, failures, pass } = createScene(true)
    failures.database = away
    health.failed(away)
    await pass(0)
    assert.equal(health.database(), away)
    assert.equal(health.refusal(), undefined)
    failures.disk = full
    await pass(1_000)
    assert.equal(health.disk(), full)
    assert.equal(health.refusal(), away)
    delete failures.database
    await pass(1_000)
    assert.equal(health.refusal(), undefined)
  })

  it('stops probing once it is disposed of', async () => {
    const { health, waiting } = createScene(false)
    await health.probe()
    assert.equal(waiting(), 1)
    health[Symbol.dispose]()
    health.failed(full)
    assert.equal(waiting(), 0)
  })
})
