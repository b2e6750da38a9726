import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../test/support/hand-clock.ts'
import { Fault } from './fault.ts'
import { createStorageHealth } from './storage-health.ts'

const full = new Fault('unavailable', 'storage_full', 'full')
const unreachable = new Fault('unavailable', 'storage_unavailable', 'unreachable')

/** A database and a disk that fail with the faults that the test sets. */
function createScene(hasSpool: boolean) {
  const time = createHandClock()
  const failures: { database?: Fault; disk?: Fault } = {}
  const probes: string[] = []
  const writes = (target: 'database' | 'disk') => async (wasFailing?: boolean) => {
    probes.push(wasFailing ? `${target} in full` : target)
    if (failures[target]) throw failures[target]
  }
  const health = createStorageHealth({
    hasSpool,
    clock: time.clock,
    writeDatabase: async () => writes('database')(),
    writeDisk: writes('disk'),
  })
  return { health, failures, probes, ...time }
}

describe('the health of storage', () => {
  it('probes the disk regularly, and the database only after a failure', async () => {
    const { health, probes, pass } = createScene(false)
    await health.probe()
    await pass(5_000)
    assert.deepEqual(probes, ['disk', 'disk'])
    assert.equal(health.requestFault(), undefined)
  })

  it('detects a full disk by a failed write, and its end by probes as large as a request', async () => {
    const { health, failures, probes, pass } = createScene(false)
    await health.probe()
    Object.assign(failures, { database: full, disk: full })
    health.failed(full)
    assert.equal(health.requestFault(), full)
    await pass(1_000)
    assert.equal(health.requestFault(), full)
    Object.assign(failures, { database: undefined, disk: undefined })
    await pass(1_000)
    assert.equal(health.requestFault(), undefined)
    assert.deepEqual(probes, ['disk', 'disk', 'database', 'disk in full', 'database'])
  })

  it('counts a rejected write until the same write is accepted, whatever else is written', async () => {
    const { health, pass } = createScene(false)
    await health.probe()
    let isAccepted = false
    const rejected = new Fault('unavailable', 'storage_rejected', 'rejected')
    health.rejected(rejected, async () => isAccepted)
    health.written()
    await pass(1_000)
    assert.equal(health.requestFault(), rejected)
    assert.equal(health.database(), rejected)
    isAccepted = true
    await pass(1_000)
    assert.equal(health.requestFault(), undefined)
  })

  it('does not treat one failed statement as an outage', async () => {
    const { health, pass } = createScene(false)
    await health.probe()
    health.failed(unreachable)
    await pass(0)
    assert.equal(health.requestFault(), undefined)
  })

  it('reports an outage that a probe confirms, until something is written', async () => {
    const { health, failures, pass } = createScene(false)
    failures.database = unreachable
    health.failed(unreachable)
    await pass(0)
    assert.equal(health.database(), unreachable)
    health.written()
    assert.equal(health.database(), undefined)
  })

  it('rejects no request while the spool can be written, and rejects them if neither can', async () => {
    const { health, failures, pass } = createScene(true)
    failures.database = unreachable
    health.failed(unreachable)
    await pass(0)
    assert.equal(health.database(), unreachable)
    assert.equal(health.requestFault(), undefined)
    failures.disk = full
    await pass(1_000)
    assert.equal(health.disk(), full)
    assert.equal(health.requestFault(), unreachable)
    delete failures.database
    await pass(1_000)
    assert.equal(health.requestFault(), undefined)
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
