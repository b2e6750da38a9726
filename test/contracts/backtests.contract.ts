import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  backtestQueue,
  backtestStore,
  gatewayBacktestStore,
  releaseBacktestLeases,
  removeBacktests,
} from '../../src/adapters/stores/sql/policies/backtests.ts'
import { packChains } from '../../src/adapters/stores/sql/audit/pack.ts'
import type { AnyBacktest } from '../../src/domain/evaluation/backtest/backtest.ts'
import { openBacktestScene } from '../support/backtest-scene.ts'
import type { Engine } from '../support/engines.ts'
import { rejectsWith } from '../support/rejects-with.ts'

/** The contract of every backtest store. */
export function backtestContract({ name, skip, open }: Engine): void {
  const openScene = async () => {
    const database = await open()
    const scene = await openBacktestScene(database)
    const queueOf = (owner: string) => backtestQueue({ database, clock: scene.clock, owner, leaseMs: 1_000 })
    return { ...scene, database, queueOf, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() }
  }

  describe(`backtests: ${name}`, { skip }, () => {
    it('leases each backtest to one node, until the lease ends or is released', async () => {
      await using scene = await openScene()
      const id = await scene.start()
      const [one, two] = [scene.queueOf('one'), scene.queueOf('two')]
      const claimed = await Promise.all([one.claim(), two.claim(), one.claim(), two.claim()])
      assert.deepEqual(
        claimed.filter((each) => each !== undefined).map((each) => each.id),
        [id],
      )
      scene.clock.passMs(999)
      assert.equal(await two.claim(), undefined)
      scene.clock.passMs(1)
      assert.equal((await two.claim())?.id, id)
      await one.release(id) // has no effect: node one no longer holds the lease
      assert.equal(await one.claim(), undefined)
      await two.release(id)
      assert.equal((await one.claim())?.id, id)
      await releaseBacktestLeases(scene.database)
      assert.equal((await two.claim())?.id, id)
    })

    it('accepts results only from the lease holder, and only from the stored position', async () => {
      await using scene = await openScene()
      await scene.addRequest('score 1')
      const id = await scene.start()
      const [one, two] = [scene.queueOf('one'), scene.queueOf('two')]
      const claimed = await one.claim()
      assert.ok(claimed)
      const further: AnyBacktest = { ...claimed, cursor: claimed.cursor - 1, done: 1 }
      assert.equal(await two.save(further, claimed.cursor), false)
      assert.equal(await one.save(further, claimed.cursor), true)
      assert.equal(await one.save(further, claimed.cursor), false)
      assert.equal(await one.save({ ...further, status: 'completed' }, further.cursor), true)
      assert.deepEqual(await scene.find(id), { ...further, status: 'completed' })
      scene.clock.passMs(5_000)
      assert.equal(await two.claim(), undefined)
    })

    it('reads the requests of the given time range, newest first, and nothing else', async () => {
      await using scene = await openScene()
      const startMs = scene.clock.nowMs()
      for (let at = 0; at < 5; at++) {
        await scene.addRequest(`score ${at}`)
        await scene.log.append(1, { code: 'gateway.simulation.run' })
        await scene.log.append(1, {}, 'org_2')
        scene.clock.passMs(1_000)
      }
      const id = await scene.start({ fromMs: startMs + 1_000, toMs: startMs + 4_000 })
      const queue = scene.queueOf('one')
      const backtest = await queue.claim()
      assert.equal(backtest?.id, id)
      const { first, last: newest, count } = await queue.span(backtest)
      assert.deepEqual((await queue.events(backtest, 9)).map(({ sequence }) => sequence).at(-1), first)
      assert.deepEqual([(await queue.events(backtest, 1))[0]?.sequence, count], [newest, 3])
      const prompts = async (from: AnyBacktest, limit: number) =>
        (await queue.events(from, limit)).map(({ content }) => content?.full?.prompt)
      assert.deepEqual(await prompts(backtest, 2), ['score 3', 'score 2'])
      const [last] = (await queue.events(backtest, 2)).slice(-1)
      assert.deepEqual(await prompts({ ...backtest, cursor: last?.sequence ?? 0 }, 9), ['score 1'])
    })

    it('reads requests whose events are compressed', async () => {
      await using scene = await openScene()
      for (let at = 0; at < 130; at++) await scene.addRequest(`score ${at}`)
      await scene.start()
      const claimed = (await scene.queueOf('one').claim()) ?? assert.fail()
      const before = await scene.queueOf('one').events(claimed, 200)
      await packChains(scene.database)
      assert.deepEqual(await scene.queueOf('one').events(claimed, 200), before)
      assert.ok(before.length >= 130)
    })

    it('keeps those of the gateway configuration apart from those of policies, in one queue', async () => {
      await using scene = await openScene()
      const [ofPolicy, ofGateway] = [await scene.start(), await scene.startGateway({ rules: { denylist: ['falcon'] } })]
      assert.equal(await scene.find(ofGateway), undefined)
      assert.equal(await scene.findGateway(ofPolicy), undefined)
      const queue = scene.queueOf('one')
      const claimed = [await queue.claim(), await queue.claim()]
      assert.deepEqual(
        new Map(claimed.map((each) => [each?.id, each?.policyId])),
        new Map([
          [ofPolicy, 'pol_1'],
          [ofGateway, null],
        ]),
      )
      await scene.database.transaction(async (tx) => {
        const store = gatewayBacktestStore(tx)
        const page = { limit: 10, order: 'asc' } as const
        assert.deepEqual((await store.list('org_1', null, page)).items, [await store.find('org_1', null, ofGateway)])
        assert.deepEqual((await store.list('org_2', null, page)).items, [])
        assert.equal(await store.find('org_2', null, ofGateway), undefined)
        assert.equal(await store.countRunning('org_1'), 2)
        const { items } = await backtestStore(tx).list('org_1', 'pol_1', page)
        assert.deepEqual(
          items.map(({ id }) => id),
          [ofPolicy],
        )
        await assert.rejects(store.list('org_1', null, { ...page, after: ofPolicy }), rejectsWith('invalid_cursor'))
      })
    })

    it('rejects more than fifty at a time', async () => {
      await using scene = await openScene()
      for (let count = 0; count < 50; count++) await scene.start()
      await assert.rejects(scene.start(), rejectsWith('invalid_state'))
    })

    it('removes backtests some time after they ended', async () => {
      await using scene = await openScene()
      const [ended, running] = [await scene.start(), await scene.start()]
      const queue = scene.queueOf('one')
      const claimed = await queue.claim()
      assert.ok(claimed)
      await queue.save({ ...claimed, status: 'completed' }, claimed.cursor)
      await removeBacktests(scene.database, scene.clock.nowMs() + 1)
      assert.equal(await scene.find(ended), undefined)
      assert.equal((await scene.find(running))?.status, 'running')
    })
  })
}
