import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { ledgerStore } from '../../src/adapters/stores/sql/credits/ledger.ts'
import { noFailpoint } from '../../src/base/failpoint.ts'
import { createReconciler } from '../../src/domain/credits/reconciler.ts'
import { createLimitEngine } from '../../src/domain/limits/engine/engine.ts'
import { unlimited } from '../../src/domain/limits/scopes.ts'
import { openQuickDatabase, openScene, settings } from './simulation.ts'

const database = await openQuickDatabase()
after(() => database[Symbol.asyncDispose]())
let count = 0

/** One node with local counters that hold a slice of 100. */
async function openNode({ sharedEpoch }: { sharedEpoch?: string | null | undefined } = {}) {
  const organizationId = `org_${++count}`
  const scene = await openScene(database, organizationId)
  const { clock } = scene
  const engine = createLimitEngine({ nowMs: () => clock.nowMs(), epoch: `${organizationId} own`, settings })
  const ledger = ledgerStore(database, { ids: (prefix) => `${prefix}_${organizationId}_${++count}`, clock })
  const world = { sharedEpoch, alive: new Set([engine.epoch]), isBacklogEmpty: true }
  const reported: { orphans: number; differences: string[]; frozen: string[] } = {
    orphans: 0,
    differences: [],
    frozen: [],
  }
  const keeper = createReconciler({
    ledger,
    limits: engine,
    allocator: { freeze: (id) => void reported.frozen.push(id) },
    backlog: { isEmpty: () => world.isBacklogEmpty },
    ownEpoch: engine.epoch,
    sharedEpoch: () => world.sharedEpoch,
    membership: { count: () => world.alive.size, isAlive: (id) => world.alive.has(id) },
    holdMs: settings.holdMs,
    clock,
    failpoint: noFailpoint,
    onOrphans: (orphans) => void (reported.orphans += orphans),
    onDifference: (_, { description }) => void reported.differences.push(description),
  })
  await scene.grant(1_000, 'start')
  const open = async (epoch: string, holder: 'shared' | 'node'): Promise<string> => {
    const amounts = { leastMicro: 100, wantedMicro: 100 }
    const opened = await ledger.openSlice({ id: `${epoch} slice`, organizationId, epoch, holder }, amounts)
    if (opened.result !== 'opened') assert.fail(opened.result)
    const { id, amountMicro } = opened.slice
    engine.grant({ organization: organizationId, epoch, sliceId: id, amountMicro, opens: true })
    return id
  }
  const subject = { organization: organizationId, project: 'proj_1', key: 'key_1' }
  return {
    ...scene,
    engine,
    keeper,
    world,
    reported,
    open,
    subject,
    admit: (requestId: string, micro: number) =>
      engine.admit({
        ...subject,
        limits: { key: unlimited, project: unlimited, organization: unlimited },
        mode: 'full',
        requestId: `${organizationId} ${requestId}`,
        tokens: 1,
        micro,
      }),
    stateOf: async (id: string) => (await ledger.settledOf(id, []))?.state,
    available: async () => (await ledger.balance(organizationId))?.availableMicro,
  }
}

describe('the reconciler of the ledger', () => {
  it('does not touch a slice that its node spends', async () => {
    const node = await openNode()
    const id = await node.open(node.engine.epoch, 'node')
    await node.keeper.reconcileSlices()
    assert.equal(await node.stateOf(id), 'open')
  })

  it('returns its local slice when the shared counters are available again, once its requests have ended', async () => {
    const node = await openNode({ sharedEpoch: null })
    const id = await node.open(node.engine.epoch, 'node')
    node.admit('runs', 10)
    await node.keeper.reconcileSlices()
    assert.equal(await node.stateOf(id), 'open') // the shared counters are still unavailable
    node.world.sharedEpoch = 'back'
    await node.keeper.reconcileSlices()
    assert.equal(await node.stateOf(id), 'closing')
    node.engine.settle({ ...node.subject, requestId: `${node.organizationId} runs`, tokens: 1, micro: 0 })
    node.world.isBacklogEmpty = false
    await node.keeper.reconcileSlices()
    assert.equal(await node.stateOf(id), 'closing') // its charge may still be queued
    node.world.isBacklogEmpty = true
    await node.keeper.reconcileSlices()
    assert.equal(await node.stateOf(id), 'closed')
    assert.equal(await node.available(), 1_000)
  })

  it('keeps the slice of a lost epoch of the shared counters for the maximum request time', async () => {
    const node = await openNode({ sharedEpoch: 'old' })
    const id = await node.open('old', 'shared')
    await node.keeper.reconcileSlices()
    assert.equal(await node.stateOf(id), 'open')
    node.world.sharedEpoch = 'new'
    await node.keeper.reconcileSlices()
    assert.equal(await node.stateOf(id), 'closing')
    node.clock.pass(settings.holdMs)
    await node.keeper.reconcileSlices()
    assert.equal(await node.stateOf(id), 'closing')
    node.clock.pass(1)
    await node.keeper.reconcileSlices()
    assert.equal(await node.stateOf(id), 'closed')
    assert.equal(await node.available(), 1_000)
  })

  it('does not retire the shared slice while it cannot reach the counters itself', async () => {
    const node = await openNode({ sharedEpoch: null })
    const id = await node.open('theirs', 'shared')
    await node.keeper.reconcileSlices()
    assert.equal(await node.stateOf(id), 'open')
  })

  it('retires the slice of a dead node, and of no other', async () => {
    const node = await openNode()
    node.world.alive.add('neighbour')
    const id = await node.open('neighbour', 'node')
    await node.keeper.reconcileSlices()
    assert.equal(await node.stateOf(id), 'open')
    node.world.alive.delete('neighbour')
    await node.keeper.reconcileSlices()
    assert.equal(await node.stateOf(id), 'closing')
  })

  it('releases the slices of a process at once if it is known to be dead', async () => {
    const node = await openNode()
    await node.open('the process before', 'node')
    await node.keeper.releasePrevious()
    assert.equal(await node.available(), 1_000)
  })

  it('returns the slices of this node before it stops', async () => {
    const node = await openNode()
    await node.open(node.engine.epoch, 'node')
    await node.keeper.release()
    assert.equal(await node.available(), 1_000)
    assert.equal(node.admit('late', 1).admitted, false)
  })

  it('ends overdue requests and returns their credits', async () => {
    const node = await openNode()
    await node.open(node.engine.epoch, 'node')
    node.admit('lost', 60)
    node.clock.pass(settings.holdMs - 1)
    await node.keeper.reconcileRequests([])
    assert.equal(node.reported.orphans, 0)
    node.clock.pass(1)
    await node.keeper.reconcileRequests([])
    assert.equal(node.reported.orphans, 1)
    const [account] = node.engine.accounts(node.organizationId)
    assert.deepEqual([account?.holds, account?.slice?.leftMicro], [[], account?.slice?.amountMicro])
    assert.deepEqual(node.reported.differences, [])
  })

  it('reports charges that are missing in the ledger without freezing the organization: another node may have spooled them', async () => {
    const node = await openNode()
    await node.open(node.engine.epoch, 'node')
    node.admit('kept elsewhere', 10)
    node.engine.settle({ ...node.subject, requestId: `${node.organizationId} kept elsewhere`, tokens: 1, micro: 7 })
    await node.keeper.reconcileRequests([])
    assert.match(node.reported.differences.join(), /have spent 7 micro-credits/)
    assert.deepEqual(node.reported.frozen, [])
  })

  it('reports and freezes an organization whose ledger has more charges than its counters', async () => {
    const node = await openNode()
    const id = await node.open(node.engine.epoch, 'node')
    await database.write([{ sql: 'update credit_slice set settled = settled + 7 where id = $1', params: [id] }])
    await database.write([
      {
        sql: 'update credit_account set held = held - 7, spent = spent + 7 where organization_id = $1',
        params: [node.organizationId],
      },
    ])
    await node.keeper.reconcileRequests([])
    assert.match(node.reported.differences.join(), /know of 7 micro-credits less/)
    assert.deepEqual(node.reported.frozen, [node.organizationId])
    await database.write([{ sql: 'update credit_slice set settled = 0 where id = $1', params: [id] }])
    await node.keeper.reconcileRequests([])
    assert.match(node.reported.differences.at(-1) ?? '', /holds -7 micro-credits more than its slices/)
    await database.write([
      { sql: `update credit_slice set state = 'closed', settled = amount where id = $1`, params: [id] },
    ])
  })
})
