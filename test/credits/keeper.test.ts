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

/** One node with counters of its own, which has a slice of 100 in them. */
async function openHouse({ sharedEpoch }: { sharedEpoch?: string | null | undefined } = {}) {
  const organizationId = `org_${++count}`
  const scene = await openScene(database, organizationId)
  const { clock } = scene
  const engine = createLimitEngine({ nowMs: () => clock.nowMs(), epoch: `${organizationId} own`, settings })
  const ledger = ledgerStore(database, { ids: (prefix) => `${prefix}_${organizationId}_${++count}`, clock })
  const world = { sharedEpoch, alive: new Set([engine.epoch]), isBacklogEmpty: true }
  const found: { orphans: number; differences: string[]; frozen: string[] } = {
    orphans: 0,
    differences: [],
    frozen: [],
  }
  const keeper = createReconciler({
    ledger,
    limits: engine,
    funds: { freeze: (id) => void found.frozen.push(id) },
    backlog: { isEmpty: () => world.isBacklogEmpty },
    ownEpoch: engine.epoch,
    sharedEpoch: () => world.sharedEpoch,
    census: { count: () => world.alive.size, isAlive: (id) => world.alive.has(id) },
    holdMs: settings.holdMs,
    clock,
    failpoint: noFailpoint,
    onOrphans: (orphans) => void (found.orphans += orphans),
    onDifference: (_, { says }) => void found.differences.push(says),
  })
  await scene.grant(1_000, 'start')
  const open = async (epoch: string, holder: 'shared' | 'node'): Promise<string> => {
    const wish = { leastMicro: 100, wantedMicro: 100 }
    const opened = await ledger.openSlice({ id: `${epoch} slice`, organizationId, epoch, holder }, wish)
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
    found,
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

describe('the keeper of the ledger', () => {
  it('leaves a slice alone that its node spends', async () => {
    const house = await openHouse()
    const id = await house.open(house.engine.epoch, 'node')
    await house.keeper.tidySlices()
    assert.equal(await house.stateOf(id), 'open')
  })

  it('takes its own slice back when the shared counters are there again, once its requests are over', async () => {
    const house = await openHouse({ sharedEpoch: null })
    const id = await house.open(house.engine.epoch, 'node')
    house.admit('runs', 10)
    await house.keeper.tidySlices()
    assert.equal(await house.stateOf(id), 'open') // the shared ones are still away
    house.world.sharedEpoch = 'back'
    await house.keeper.tidySlices()
    assert.equal(await house.stateOf(id), 'closing')
    house.engine.settle({ ...house.subject, requestId: `${house.organizationId} runs`, tokens: 1, micro: 0 })
    house.world.isBacklogEmpty = false
    await house.keeper.tidySlices()
    assert.equal(await house.stateOf(id), 'closing') // its charge may still wait
    house.world.isBacklogEmpty = true
    await house.keeper.tidySlices()
    assert.equal(await house.stateOf(id), 'closed')
    assert.equal(await house.available(), 1_000)
  })

  it('lets the slice of a lost life of the shared counters rest for as long as a request may take', async () => {
    const house = await openHouse({ sharedEpoch: 'old' })
    const id = await house.open('old', 'shared')
    await house.keeper.tidySlices()
    assert.equal(await house.stateOf(id), 'open')
    house.world.sharedEpoch = 'new'
    await house.keeper.tidySlices()
    assert.equal(await house.stateOf(id), 'closing')
    house.clock.pass(settings.holdMs)
    await house.keeper.tidySlices()
    assert.equal(await house.stateOf(id), 'closing')
    house.clock.pass(1)
    await house.keeper.tidySlices()
    assert.equal(await house.stateOf(id), 'closed')
    assert.equal(await house.available(), 1_000)
  })

  it('does not judge the shared slice while it cannot reach the counters itself', async () => {
    const house = await openHouse({ sharedEpoch: null })
    const id = await house.open('theirs', 'shared')
    await house.keeper.tidySlices()
    assert.equal(await house.stateOf(id), 'open')
  })

  it('retires the slice of a node that is dead, and of no other', async () => {
    const house = await openHouse()
    house.world.alive.add('neighbour')
    const id = await house.open('neighbour', 'node')
    await house.keeper.tidySlices()
    assert.equal(await house.stateOf(id), 'open')
    house.world.alive.delete('neighbour')
    await house.keeper.tidySlices()
    assert.equal(await house.stateOf(id), 'closing')
  })

  it('takes back at once what a dead process held, where it is known to be dead', async () => {
    const house = await openHouse()
    await house.open('the process before', 'node')
    await house.keeper.inherit()
    assert.equal(await house.available(), 1_000)
  })

  it('gives back what it holds before it stops', async () => {
    const house = await openHouse()
    await house.open(house.engine.epoch, 'node')
    await house.keeper.release()
    assert.equal(await house.available(), 1_000)
    assert.equal(house.admit('late', 1).admitted, false)
  })

  it('ends requests that are overdue, and gives their credits back', async () => {
    const house = await openHouse()
    await house.open(house.engine.epoch, 'node')
    house.admit('lost', 60)
    house.clock.pass(settings.holdMs - 1)
    await house.keeper.tidyRequests([])
    assert.equal(house.found.orphans, 0)
    house.clock.pass(1)
    await house.keeper.tidyRequests([])
    assert.equal(house.found.orphans, 1)
    const [account] = house.engine.accounts(house.organizationId)
    assert.deepEqual([account?.holds, account?.slice?.leftMicro], [[], account?.slice?.amountMicro])
    assert.deepEqual(house.found.differences, [])
  })

  it('tells of charges that have not come to the ledger, and freezes nobody for them: another node may have kept them', async () => {
    const house = await openHouse()
    await house.open(house.engine.epoch, 'node')
    house.admit('kept elsewhere', 10)
    house.engine.settle({ ...house.subject, requestId: `${house.organizationId} kept elsewhere`, tokens: 1, micro: 7 })
    await house.keeper.tidyRequests([])
    assert.match(house.found.differences.join(), /have spent 7 micro-credits/)
    assert.deepEqual(house.found.frozen, [])
  })

  it('raises an alarm and freezes an organization whose counters and ledger disagree', async () => {
    const house = await openHouse()
    const id = await house.open(house.engine.epoch, 'node')
    await database.write([{ sql: 'update credit_slice set settled = settled + 7 where id = $1', params: [id] }])
    await database.write([
      {
        sql: 'update credit_account set held = held - 7, spent = spent + 7 where organization_id = $1',
        params: [house.organizationId],
      },
    ])
    await house.keeper.tidyRequests([])
    assert.match(house.found.differences.join(), /know of 7 micro-credits less/)
    assert.deepEqual(house.found.frozen, [house.organizationId])
    await database.write([{ sql: 'update credit_slice set settled = 0 where id = $1', params: [id] }])
    await house.keeper.tidyRequests([])
    assert.match(house.found.differences.at(-1) ?? '', /holds -7 micro-credits more than its slices/)
    await database.write([
      { sql: `update credit_slice set state = 'closed', settled = amount where id = $1`, params: [id] },
    ])
  })
})
