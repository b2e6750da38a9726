import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { readBacklog } from '../../src/adapters/stores/sql/exports/backlog.ts'
import { costFileStore } from '../../src/adapters/stores/sql/exports/cost-files.ts'
import { foldStoredDeltas } from '../../src/adapters/stores/sql/rollup/fold.ts'
import { dayCosts, dayTotals } from '../../src/adapters/stores/sql/rollup/cost-days.ts'
import type { ExportSink } from '../../src/domain/audit/export/export-sink.ts'
import type { Engine } from '../support/engines.ts'
import { openCostFileScene } from '../support/cost-file-scene.ts'
import { leaseMs } from '../support/export-store.ts'

const daySeconds = 86_400
const day = Date.UTC(2026, 0, 1) / 1000
const file = { day, digest: 'abc', rowCount: 3, hasTags: true }

/** Sinks of costs and the sums of days, on every engine. */
export function costFilesContract({ name, skip, open }: Engine): void {
  const openScene = async (t: TestContext) => {
    const database = await open()
    const scene = await openCostFileScene(t, database)
    const files = (owner: string) => costFileStore({ database, clock: scene.clock, owner })
    return { ...scene, files, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() }
  }

  describe(`sinks of costs: ${name}`, { skip }, () => {
    it('are due while they are enabled, wait for nothing and are not leased, and get no events', async (t) => {
      await using scene = await openScene(t)
      const { files, node, log, addCostSink, addSink } = scene
      const sink = await addCostSink()
      const ofEvents = await addSink()
      await log.append(1)
      assert.deepEqual([await files('a').due(9), await node('a').due(9)], [[sink.id], [ofEvents.id]])
      const claimed = (await node('a').claim(sink.id)) ?? assert.fail()
      assert.deepEqual(await files('b').due(9), [])
      await node('a').postpone(claimed, log.clock.nowMs() + 10)
      await node('a').release(sink.id)
      assert.deepEqual(await files('b').due(9), [])
      log.clock.passMs(10)
      assert.deepEqual(await files('b').due(9), [sink.id])
      await change(scene, sink, { enabled: false })
      assert.deepEqual(await files('b').due(9), [])
    })

    it('have no backlog of events', async (t) => {
      await using scene = await openScene(t)
      const sink = await scene.addCostSink()
      await scene.log.append(5)
      const { backlogEvents, oldestUnsentAtMs, costFiles } = await scene.health(sink)
      assert.deepEqual([backlogEvents, oldestUnsentAtMs], [0, null])
      assert.deepEqual(costFiles, { count: 0, lastDay: null, lastDayWithoutTags: null })
      const { events, oldestAtMs } = await readBacklog(scene.database)
      assert.deepEqual([events, oldestAtMs], [0, 0])
    })

    it('know the last file of each day, and which have no tags', async (t) => {
      await using scene = await openScene(t)
      const { files, node } = scene
      const sink = await scene.addCostSink()
      const claimed = (await node('a').claim(sink.id)) ?? assert.fail()
      assert.ok(await files('a').record(claimed, file))
      assert.ok(await files('a').record(claimed, { ...file, day: day + daySeconds, hasTags: false }))
      assert.ok(await files('a').record(claimed, { ...file, digest: 'def' }))
      assert.deepEqual(
        await files('b').digests(sink.id),
        new Map([
          [day, 'def'],
          [day + daySeconds, 'abc'],
        ]),
      )
      const { costFiles } = await scene.health(sink)
      assert.deepEqual(costFiles, { count: 2, lastDay: day + daySeconds, lastDayWithoutTags: day + daySeconds })
    })

    it('store a file only while the lease and the configuration are those of the writer', async (t) => {
      await using scene = await openScene(t)
      const { files, node, log } = scene
      const sink = await scene.addCostSink()
      const claimed = (await node('a').claim(sink.id)) ?? assert.fail()
      log.clock.passMs(leaseMs)
      assert.ok(await node('b').claim(sink.id))
      assert.equal(await files('a').record(claimed, file), false)
      await change(scene, sink, { label: 'Changed' })
      assert.equal(await files('b').record(claimed, file), false)
      assert.equal((await files('b').digests(sink.id)).size, 0)
    })

    it('forget their files after a change of the configuration, and no other change', async (t) => {
      await using scene = await openScene(t)
      const { files, node } = scene
      const sink = await scene.addCostSink()
      const claimed = (await node('a').claim(sink.id)) ?? assert.fail()
      await files('a').record(claimed, file)
      const labelled = await change(scene, sink, { label: 'Changed' })
      assert.equal((await files('a').digests(sink.id)).size, 1)
      await change(scene, labelled, { config: { ...sink.config, prefix: 'elsewhere/' } })
      assert.equal((await files('a').digests(sink.id)).size, 0)
    })
  })

  describe(`costs by day: ${name}`, { skip }, () => {
    it('are summed up by project, key, model and all tags, folded or not, without end users', async (t) => {
      await using scene = await openScene(t)
      const { charge, database, clock } = scene
      const atMs = (hours: number): number => (day + hours * 3_600) * 1000
      const red = { model: 'a', tags: { team: 'red', env: 'prod' } }
      await charge('1', { ...red, atMs: atMs(1), userId: 'ada', costMicro: 5 })
      await charge('2', { ...red, atMs: atMs(23), userId: 'bob', costMicro: 7 })
      while (!(await foldStoredDeltas(database))) continue
      await charge('3', { ...red, atMs: atMs(2), costMicro: 11 })
      await charge('4', { model: 'a', atMs: atMs(3), costMicro: 13 })
      await charge('5', { model: 'a', atMs: atMs(24), costMicro: 17 })
      clock.passMs(3 * daySeconds * 1000)
      const query = { organizationId: 'org_1', day, nowMs: clock.nowMs(), maxRows: 2 }
      const read = async (hasTags: boolean, maxRows = 2) =>
        (await dayCosts(database.report.bind(database), { ...query, hasTags, maxRows }))?.map(
          ({ model, tags, requests, costMicro }) => [model, tags, requests, costMicro],
        )
      assert.deepEqual(await read(true), [
        ['a', '', 1, 13],
        ['a', 'env=prod,team=red', 3, 23],
      ])
      assert.equal(await read(true, 1), undefined)
      assert.deepEqual(await read(false, 1), [['a', '', 4, 36]])
      const totals = await dayTotals(database.report.bind(database), clock)('org_1', {
        from: day - daySeconds,
        to: day + 2 * daySeconds,
      })
      assert.deepEqual(
        Array.from(totals, ([start, { requests, costMicro }]) => [start, requests, costMicro]),
        [
          [day, 4, 36],
          [day + daySeconds, 1, 17],
        ],
      )
    })
  })
}

type Scene = Awaited<ReturnType<typeof openCostFileScene>>

async function change(scene: Scene, sink: ExportSink, fields: Partial<ExportSink>): Promise<ExportSink> {
  const changed = { ...sink, ...fields, version: sink.version + 1 }
  assert.ok(await scene.within((store) => store.replace(changed, {})))
  return changed
}
