import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { chargeOf } from '../../../test/support/credits.ts'
import { createHandClock } from '../../../test/support/hand-clock.ts'
import { createMemorySpool } from '../../../test/support/memory-spool.ts'
import { noFailpoint } from '../../base/failpoint.ts'
import { Fault } from '../../base/fault.ts'
import { createChargeBacklog } from './backlog.ts'
import type { Charge } from './charge.ts'
import type { Settled } from './ledger-store.ts'
import { createSettle } from './settle.ts'

const subject = { organization: 'org_1', project: 'proj_1', key: 'key_1', tokens: 1, epoch: 'life' }

/** A ledger that can be made unreachable, with a backlog in front of it. */
async function openScene(left: readonly Charge[] = []) {
  const time = createHandClock()
  const written = new Map<string, number>()
  const outage: { error?: Error } = {}
  const ledger = {
    async settle({ requestId, micro, outcome }: Charge): Promise<Settled> {
      if (outage.error) throw outage.error
      written.set(requestId, (written.get(requestId) ?? 0) + 1)
      return { outcome, micro, isFirst: true, isSliceOpen: true, remainingMicro: 100 }
    },
  }
  const spool = createMemorySpool(({ requestId }) => requestId, left)
  const backlog = await createChargeBacklog({
    ledger,
    spool,
    clock: time.clock,
    failpoint: noFailpoint,
    onSetAside: () => {},
  })
  const settledInCounters: [string, number][] = []
  const settle = createSettle({
    onCharge: () => {},
    ledger,
    backlog,
    failpoint: noFailpoint,
    limits: {
      settle: ({ requestId, micro }) => {
        settledInCounters.push([requestId, micro])
        return 'settled'
      },
      leave: () => undefined,
      close: () => 'closed',
    },
  })
  const charge = (id: string): Promise<Settled | null> =>
    settle(chargeOf(id, 5, 'slice_1'), { ...subject, requestId: id })
  const unreachable = new Fault('unavailable', 'storage_unavailable', 'unreachable')
  return { ...time, backlog, charge, written, outage, unreachable, settledInCounters }
}

describe('charges that the ledger cannot write', () => {
  it('wait in the backlog, are settled in the counters, and are written once when the ledger is back', async () => {
    const scene = await openScene()
    scene.outage.error = scene.unreachable
    assert.equal(await scene.charge('req_1'), null)
    assert.equal(await scene.charge('req_2'), null)
    assert.deepEqual(scene.settledInCounters, [
      ['req_1', 5],
      ['req_2', 5],
    ])
    assert.equal(scene.backlog.waiting(), 2)
    await assert.rejects(scene.backlog.retry(), scene.unreachable)
    assert.equal(scene.backlog.waiting(), 2)
    delete scene.outage.error
    await scene.backlog.retry()
    assert.equal(scene.backlog.isEmpty(), true)
    assert.deepEqual(Object.fromEntries(scene.written), { req_1: 1, req_2: 1 })
  })

  it('do not delay later charges once the ledger is back; otherwise the backlog would never drain under load', async () => {
    const scene = await openScene()
    scene.outage.error = scene.unreachable
    await scene.charge('req_1')
    delete scene.outage.error
    assert.equal((await scene.charge('req_2'))?.isFirst, true)
    assert.equal(scene.backlog.waiting(), 1)
    assert.equal(await scene.backlog.flush(), true)
    assert.deepEqual([...scene.written.keys()], ['req_2', 'req_1'])
  })

  it('survive a restart of the node', async () => {
    const scene = await openScene([chargeOf('req_1', 5, 'slice_1')])
    assert.equal(scene.backlog.waiting(), 1)
    assert.equal(await scene.backlog.flush(), true)
    assert.deepEqual([...scene.written.keys()], ['req_1'])
  })

  it('block further requests when they have waited too long', async () => {
    const scene = await openScene()
    scene.outage.error = scene.unreachable
    await scene.charge('req_1')
    await scene.pass(4 * 60_000)
    assert.equal(scene.backlog.isFull(), false)
    await scene.pass(1)
    assert.equal(scene.backlog.isFull(), true)
    delete scene.outage.error
    await scene.backlog.flush()
    assert.equal(scene.backlog.isFull(), false)
  })

  it('wait also if the ledger rejects them, because the answer was sent', async () => {
    const scene = await openScene()
    scene.outage.error = new Error('a constraint')
    assert.equal(await scene.charge('req_1'), null)
    assert.equal(scene.backlog.waiting(), 1)
    assert.deepEqual(scene.settledInCounters, [['req_1', 5]])
    delete scene.outage.error
    assert.equal(await scene.backlog.flush(), true)
    assert.deepEqual([...scene.written.keys()], ['req_1'])
  })
})
