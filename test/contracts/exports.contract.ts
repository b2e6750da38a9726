import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { packChains } from '../../src/adapters/stores/sql/audit/pack.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import type { Cursor } from '../../src/domain/audit/export/cursor.ts'
import type { ClaimedSink } from '../../src/domain/audit/export/delivery-store.ts'
import type { Engine } from '../support/engines.ts'
import { leaseMs, openExportStore } from '../support/export-store.ts'

const page = { limit: 9, order: 'desc' } as const

/** Export sinks and senders, on every engine. */
export function exportContract({ name, skip, open }: Engine): void {
  describe(`export sinks: ${name}`, { skip }, () => {
    it('are stored with encrypted secrets, each bound to its sink and field', async () => {
      await using scene = await openScene(open)
      const { within, addSink, database } = scene
      const sink = await addSink()
      const other = await addSink()
      assert.deepEqual(await within((store) => store.secretsOf(sink)), { secret: 'the-secret-of-the-sink-abcdef' })
      const [row] = await database.read<{ sealed: Uint8Array }>('select sealed from export_secret where sink_id = $1', [
        sink.id,
      ])
      assert.ok(
        !Buffer.from(row?.sealed ?? [])
          .toString('latin1')
          .includes('the-secret'),
      )
      await database.write([
        { sql: 'delete from export_secret where sink_id = $1', params: [other.id] },
        { sql: 'update export_secret set sink_id = $2 where sink_id = $1', params: [sink.id, other.id] },
      ])
      await assert.rejects(within((store) => store.secretsOf(other)))
    })

    it('are found in their organization only, even with the cursor of a deleted one', async () => {
      await using scene = await openScene(open)
      const { within, addSink } = scene
      const [first, second, third] = [await addSink(), await addSink(), await addSink()]
      await addSink({ organizationId: 'org_2' })
      assert.equal(await within((store) => store.find('org_2', first.id)), undefined)
      const ids = async (after?: string) =>
        (await within((store) => store.list('org_1', { ...page, ...(after !== undefined && { after }) }))).items.map(
          ({ id }) => id,
        )
      assert.deepEqual(await ids(), [third.id, second.id, first.id])
      assert.ok(await within((store) => store.remove(second, 5)))
      assert.ok(!(await within((store) => store.remove(second, 5))))
      assert.deepEqual([await ids(), await ids(second.id)], [[third.id, first.id], [first.id]])
      assert.equal(await within((store) => store.count('org_1')), 2)
      assert.deepEqual(await within((store) => store.secretsOf(second)), {})
    })

    it('change only if the version is unchanged', async () => {
      await using scene = await openScene(open)
      const { within, addSink } = scene
      const sink = await addSink()
      const changed = { ...sink, label: 'Changed', enabled: false, version: 2, updatedAtMs: 9 }
      assert.ok(await within((store) => store.replace(changed, { secret: 'another-secret' })))
      assert.ok(!(await within((store) => store.replace(changed, {}))))
      const { health, ...found } = (await within((store) => store.find('org_1', sink.id))) ?? assert.fail()
      assert.deepEqual(found, changed)
      assert.equal(health.state, 'disabled')
      assert.deepEqual(await within((store) => store.secretsOf(sink)), { secret: 'another-secret' })
    })

    it('start now or with all retained events, and report their backlog', async () => {
      await using scene = await openScene(open)
      const { within, addSink, log } = scene
      await log.append(3)
      const backlogOf = async (id: string) => (await within((store) => store.find('org_1', id)))?.health
      const all = await addSink()
      const now = await addSink({}, 'now')
      assert.equal((await backlogOf(all.id))?.backlogEvents, 3)
      assert.equal((await backlogOf(all.id))?.oldestUnsentAtMs, log.clock.nowMs())
      assert.deepEqual(
        [(await backlogOf(now.id))?.backlogEvents, (await backlogOf(now.id))?.oldestUnsentAtMs],
        [0, null],
      )
    })
  })

  describe(`senders: ${name}`, { skip }, () => {
    it('find due sinks: enabled, with unsent events, not waiting, not leased', async () => {
      await using scene = await openScene(open)
      const { addSink, log, node, within } = scene
      const sink = await addSink()
      await addSink({ enabled: false })
      assert.deepEqual(await node('a').due(9), [])
      await log.append(2)
      assert.deepEqual(await node('a').due(9), [sink.id])
      const claimed = (await node('a').claim(sink.id)) ?? assert.fail()
      assert.deepEqual(await node('b').due(9), [])
      await node('a').postpone(claimed, log.clock.nowMs() + 10)
      await node('a').release(sink.id)
      assert.deepEqual(await node('b').due(9), [])
      log.clock.passMs(10)
      assert.deepEqual(await node('b').due(9), [sink.id])
      await within((store) => store.remove(sink, 1))
      assert.deepEqual(await node('b').due(9), [])
    })

    it('have exclusive use of a sink until their lease ends', async () => {
      await using scene = await openScene(open)
      const { log, node, sinkId } = await scene.withEvents(1)
      await node('a').release(sinkId)
      assert.equal((await Promise.all([node('a').claim(sinkId), node('b').claim(sinkId)])).filter(Boolean).length, 1)
      const [owner, other] = (await node('a').renew(sinkId)) ? ['a', 'b'] : ['b', 'a']
      log.clock.passMs(leaseMs - 1)
      assert.equal(await node(other).claim(sinkId), undefined)
      assert.ok(await node(owner).renew(sinkId))
      log.clock.passMs(leaseMs)
      assert.ok(await node(other).claim(sinkId))
      assert.ok(!(await node(owner).renew(sinkId)))
    })

    it('get the sink with its secrets', async () => {
      await using scene = await openScene(open)
      const { claimed } = await scene.withEvents(1)
      assert.equal(claimed.openConfig()['secret'], 'the-secret-of-the-sink-abcdef')
      assert.deepEqual([claimed.firstSequence, claimed.headSequence, claimed.cursor.sequence], [1, 1, 0])
    })

    it('store the planned end of a batch, and read it after a crash', async () => {
      await using scene = await openScene(open)
      const { node, claimed, sinkId, log } = await scene.withEvents(5)
      assert.ok(await node('a').plan(claimed, 4))
      log.clock.passMs(leaseMs)
      const again = (await node('b').claim(sinkId)) ?? assert.fail()
      assert.deepEqual([again.cursor.sequence, again.cursor.planLast], [0, 4])
      assert.ok(!(await node('a').plan(claimed, 5)), 'the lease is lost')
    })

    it('move a cursor with its dead letters and sink events atomically', async () => {
      await using scene = await openScene(open)
      const { node, claimed, log, within, sinkId } = await scene.withEvents(3)
      const rejected = [{ sequence: 2, id: 'evt_2', reason: 'bad' }]
      const settlement = {
        cursor: moved(claimed, 3),
        rejected,
        sinkEvents: [{ kind: 'dead_lettered', events: rejected }],
      } as const
      assert.ok(await node('a').settle(claimed, settlement))
      assert.ok(!(await node('a').settle(claimed, settlement)), 'it stands elsewhere by now')
      const { items } = await log.reads.list('org_1', { code: 'export.dead_lettered' }, page)
      assert.deepEqual(
        items.map(({ document }) => document.unmapped.gatehouse['event_ids']),
        [['evt_2']],
      )
      assert.equal((await log.verify()).finding, undefined)
      const sink = (await within((store) => store.find('org_1', sinkId))) ?? assert.fail()
      assert.deepEqual([sink.health.deadLetters, sink.health.backlogEvents], [1, 1])
    })

    it('store nothing for a sink that was changed, disabled or lost meanwhile', async () => {
      for (const change of [
        `update export_sink set version = 2`,
        `update export_sink set enabled = 0`,
        `update export_sink set deleted_at = 1`,
        `update export_cursor set owner = 'b'`,
      ]) {
        await using scene = await openScene(open)
        const { node, claimed } = await scene.withEvents(2)
        await scene.database.write([{ sql: change }])
        assert.ok(
          !(await node('a').settle(claimed, { cursor: moved(claimed, 2), rejected: [], sinkEvents: [] })),
          change,
        )
      }
    })

    it('replay requested dead letters', async () => {
      await using scene = await openScene(open)
      const { node, claimed, within, sinkId, log } = await scene.withEvents(3)
      const ids = (await log.reads.events('org_1', { after: 0, limit: 9 })).map(({ id }) => id)
      const rejected = [1, 2].map((sequence) => ({ sequence, id: ids[sequence - 1] ?? '', reason: 'bad' }))
      await node('a').settle(claimed, { cursor: moved(claimed, 3), rejected, sinkEvents: [] })
      const sink = (await within((store) => store.find('org_1', sinkId))) ?? assert.fail()
      assert.deepEqual(await node('a').replays(sinkId, { limit: 9 }), [])
      assert.equal(await within((store) => store.replay(sink, [ids[1] ?? '', 'evt_nobody'])), 1)
      await node('a').release(sinkId)
      assert.deepEqual(await node('a').due(9), [sinkId])
      const replayed = await node('a').replays(sinkId, { limit: 9 })
      assert.deepEqual(
        replayed.map(({ sequence }) => sequence),
        [2],
      )
      await log.append(130)
      await packChains(scene.database)
      assert.deepEqual(await node('a').replays(sinkId, { limit: 9 }), replayed)
      await node('a').settleReplays(claimed, {
        delivered: [],
        rejected: [{ sequence: 2, reason: 'still bad' }],
      })
      assert.equal(await within((store) => store.replay(sink, undefined)), 2)
      await node('a').settleReplays(claimed, { delivered: [1], rejected: [] })
      const { items } = await within((store) => store.listDeadLetters(sink, page))
      assert.deepEqual(
        items.map(({ sequence, reason, attempts, isReplaying }) => [sequence, reason, attempts, isReplaying]),
        [[2, 'still bad', 2, true]],
      )
    })
  })
}

const moved = ({ cursor }: ClaimedSink, sequence: number): Cursor => ({ ...cursor, sequence, planLast: null })

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const scene = await openExportStore(database)
  return {
    ...scene,
    database,
    /** A sink with this many unsent events, claimed by node `a`. */
    async withEvents(count: number) {
      await scene.log.append(count)
      const { id: sinkId } = await scene.addSink()
      return { ...scene, sinkId, claimed: (await scene.node('a').claim(sinkId)) ?? assert.fail() }
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
