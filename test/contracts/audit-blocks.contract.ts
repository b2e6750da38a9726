import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { publishKeys, signDueChains } from '../../src/adapters/stores/sql/audit/checkpoints.ts'
import { createAuditAppender } from '../../src/adapters/stores/sql/audit/chain.ts'
import { canStageBodies, packChains, packOldBodies } from '../../src/adapters/stores/sql/audit/pack.ts'
import { trimChains } from '../../src/adapters/stores/sql/audit/retention.ts'
import type { Database, Value } from '../../src/adapters/stores/sql/database.ts'
import { dayMs, minuteMs, type Clock } from '../../src/base/clock.ts'
import { openAuditLog, requestFacts } from '../support/audit-log.ts'
import type { Engine } from '../support/engines.ts'

/** Bodies of events in compressed blocks, on every engine. */
export function auditBlocksContract({ name, skip, open }: Engine): void {
  describe(`audit blocks: ${name}`, { skip }, () => {
    it('have the bodies of complete blocks, and events read as before', async () => {
      await using scene = await openScene(open)
      await scene.log.append(300)
      const before = await scene.everything()
      await packChains(scene.database)
      assert.deepEqual(await scene.counts(), { audit_body: 300 - 256, audit_block: 2 })
      assert.deepEqual(await scene.everything(), before)
      const { checked, finding } = await scene.log.verify()
      assert.deepEqual([checked, finding], [300, undefined])
    })

    it('leave events alone that were written together with a change, and large ones', async () => {
      await using scene = await openScene(open)
      await scene.log.append(100)
      await scene.sign() // an event in a transaction
      await scene.log.append(1, {
        code: 'audit.trimmed',
        details: { long: Array.from({ length: 40 }, () => 'long '.repeat(200)) },
      })
      await scene.log.append(60)
      const before = await scene.everything()
      await packChains(scene.database)
      assert.deepEqual(await scene.counts(), { audit_body: 1 + 162 - 128, audit_block: 1 })
      assert.deepEqual(await scene.everything(), before)
    })

    it('are made once if several nodes try at the same time', async () => {
      await using scene = await openScene(open)
      await scene.log.append(400)
      const before = await scene.everything()
      await Promise.all([1, 2, 3].map(() => packChains(scene.database)))
      await packChains(scene.database)
      assert.deepEqual(await scene.counts(), { audit_body: 400 - 384, audit_block: 3 })
      assert.deepEqual(await scene.everything(), before)
    })

    it('show a damaged, a foreign and a removed block as altered events', async () => {
      const damages: [sql: string, params: Value[], reason: string][] = [
        [`update audit_block set bodies = $1 where block = 1`, [Buffer.from('no zstd')], 'altered'],
        [
          `update audit_block set bodies = (select bodies from audit_block where block = 0) where block = 1`,
          [],
          'misplaced',
        ],
        [`delete from audit_block where block = 1`, [], 'altered'],
        [`insert into audit_body (organization_id, sequence, body) values ('org_1', 129, '{}')`, [], 'altered'],
        [`update audit_event set body = '{}' where sequence = 129`, [], 'altered'],
      ]
      for (const [sql, params, reason] of damages) {
        await using scene = await openScene(open)
        await scene.log.append(256)
        await packChains(scene.database)
        await scene.database.write([{ sql, params }])
        assert.deepEqual((await scene.log.verify()).finding, { sequence: 129, reason }, sql)
      }
    })

    it('forget the events that retention removed, also in the block where the log now starts', async () => {
      await using scene = await openScene(open)
      for (let day = 0; day < 6; day++) {
        await scene.log.append(90, { message: `day ${day}` })
        await scene.sign()
        scene.log.clock.passMs(dayMs)
      }
      await packChains(scene.database)
      const before = await scene.everything()
      await Promise.all([scene.trim(), scene.trim(), scene.trim()]) // nodes may remove at the same time
      const { firstSequence } = (await scene.log.reads.chainState('org_1')) ?? assert.fail()
      assert.ok(firstSequence % 128 > 1)
      const after = await scene.everything()
      assert.deepEqual(
        after.filter(({ code }) => code !== 'audit.trimmed'),
        before.filter(({ sequence }) => sequence >= firstSequence),
      )
      assert.equal((await scene.log.verify()).finding, undefined)
      await scene.database.write([{ sql: 'update audit_chain set first_sequence = 1' }])
      await scene.database.write([
        {
          sql: `insert into audit_event (organization_id, sequence, id, chain_uid, time, code, fingerprint, body)
          select organization_id, $1, 'removed', chain_uid, time, code, fingerprint, '' from audit_event where sequence = $2`,
          params: [firstSequence - 1, firstSequence],
        },
      ])
      const [removed] = await scene.log.reads.rows('org_1', { after: firstSequence - 2, limit: 1 })
      assert.equal(removed?.body, '')
    })

    it('read the same whenever they are made, while events are appended and removed', async () => {
      const action = fc.oneof(
        { weight: 4, arbitrary: fc.record({ append: fc.integer({ min: 1, max: 150 }) }) },
        { weight: 3, arbitrary: fc.constant('pack' as const) },
        { weight: 2, arbitrary: fc.constant('sign' as const) },
        { weight: 1, arbitrary: fc.constant('trim' as const) },
      )
      await fc.assert(
        fc.asyncProperty(fc.array(action, { maxLength: 14 }), async (actions) => {
          await using scene = await openScene(open)
          for (const each of actions) {
            if (each === 'pack') await packChains(scene.database)
            else if (each === 'sign') await scene.sign()
            else if (each === 'trim') await scene.trim()
            else await scene.log.append(each.append)
            scene.log.clock.passMs(dayMs / 2)
          }
          const { chainState } = scene.log.reads
          const chain = await chainState('org_1')
          if (chain === undefined) return
          const { finding, checked } = await scene.log.verify()
          assert.deepEqual([finding, checked], [undefined, chain.head.sequence - chain.firstSequence + 1])
        }),
        { numRuns: 8 },
      )
    })

    it('take the bodies of older events when the storage is compacted, beside newer ones of the same block', async () => {
      await using scene = await openScene(open)
      const { authorityUid } = scene.log.events
      const before = createAuditAppender(scene.database, { authorityUid, canStage: () => false })
      await before.append('org_1', scene.requests(200))
      await scene.log.append(100)
      await before.append('org_1', scene.requests(30))
      const events = await scene.everything()
      await packChains(scene.database)
      assert.deepEqual(await scene.counts(), { audit_body: 300 - 256, audit_block: 1 })
      assert.equal(await packOldBodies(scene.database, () => undefined), 200)
      assert.equal(await packOldBodies(scene.database, () => undefined), 0)
      assert.deepEqual(await scene.counts(), { audit_body: 300 - 256, audit_block: 2 })
      assert.deepEqual(await scene.everything(), events)
      await scene.log.append(60)
      await packChains(scene.database)
      assert.equal(await packOldBodies(scene.database, () => undefined), 30)
      assert.deepEqual((await scene.everything()).slice(0, 330), events)
      assert.equal((await scene.log.verify()).finding, undefined)
    })

    it('are not made for new events while a node runs that cannot read them', async () => {
      await using scene = await openScene(open)
      await scene.database.write([{ sql: `insert into node (id, beat) values ('old', 1)` }])
      assert.equal(await canStageBodies(scene.database), scene.database.engine === 'sqlite')
      await scene.database.write([{ sql: `delete from node where id = 'old'` }])
      assert.equal(await canStageBodies(scene.database), true)
    })
  })
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const log = await openAuditLog(database)
  /** Without the pauses between two steps of retention. */
  const clock: Clock = { ...log.clock, after: (_, callback) => (setImmediate(callback), () => undefined) }
  await publishKeys(log.checkpoints)
  const countOf = async (table: string): Promise<number | undefined> =>
    (await database.read<{ count: number }>(`select count(*) as count from ${table}`))[0]?.count
  return {
    database,
    log,
    sign() {
      log.clock.passMs(2 * minuteMs)
      return signDueChains(log.checkpoints)
    },
    trim: () => trimChains({ database, clock, events: log.events, keepMs: 3 * dayMs, maxBacklogMs: 14 * dayMs }),
    requests: (count: number) => Array.from({ length: count }, () => log.events.makeEvent(requestFacts({}, log.clock))),
    everything: () => log.reads.rows('org_1', { after: 0, limit: 10_000 }),
    counts: async () => ({ audit_body: await countOf('audit_body'), audit_block: await countOf('audit_block') }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
