import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { publishKeys, signDueChains } from '../../src/adapters/stores/sql/audit/checkpoints.ts'
import { trimChains } from '../../src/adapters/stores/sql/audit/retention.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { openAuditLog, setClock } from '../support/audit-log.ts'
import type { Engine } from '../support/engines.ts'
import { addLaggingSink } from '../support/lagging-sink.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

/** Checkpoints and retention of the audit log, on every engine. */
export function auditKeepingContract({ name, skip, open }: Engine): void {
  describe(`audit checkpoints and retention: ${name}`, { skip }, () => {
    it('signs a chain once, a minute after an event, and again after an hour without events', async () => {
      await using scene = await openScene(open)
      const { log, sign } = scene
      await log.append(5)
      assert.deepEqual([await sign(), await sign()], [1, 0])
      log.clock.passMs(59 * minuteMs)
      assert.equal(await sign(), 0)
      log.clock.passMs(minuteMs)
      assert.equal(await sign(), 1)
      const { checkpoints, head } = (await log.reads.chainState('org_1')) ?? assert.fail()
      assert.deepEqual(
        checkpoints.map(({ sequence, count }) => [sequence, count]),
        [
          [5, 5],
          [6, 1],
        ],
      )
      assert.equal(head.sequence, 7)
      const report = await log.verify()
      assert.deepEqual(
        [report.checked, report.checkpoints, report.finding, report.checkpointFinding],
        [7, 2, undefined, undefined],
      )
    })

    it('signs at once if a thousand events wait, and only once if two nodes try', async () => {
      await using scene = await openScene(open)
      await scene.log.append(1)
      await scene.sign()
      await scene.log.append(1_000)
      assert.equal(
        (await Promise.all([scene.sign(), scene.sign()])).reduce((sum, count) => sum + count),
        1,
      )
    })

    it('signs many chains in few transactions on the embedded engine, and each in its own on PostgreSQL', async () => {
      await using database = await open()
      const organizations = Array.from({ length: 12 }, (_, at) => `org_${at}`)
      const log = await openAuditLog(database, setClock(), organizations)
      await publishKeys(log.checkpoints)
      for (const organizationId of organizations) await log.append(2, {}, organizationId)
      let transactions = 0
      const transaction: Database['transaction'] = (work) => {
        transactions++
        return database.transaction(work)
      }
      const counted = { ...log.checkpoints, database: { ...database, transaction } }
      assert.equal(await signDueChains(counted), 12)
      assert.equal(transactions, database.engine === 'sqlite' ? 2 : 12)
      for (const organizationId of organizations) {
        const { checkpoints, finding } = await log.verify(organizationId)
        assert.deepEqual([checkpoints, finding], [1, undefined])
      }
    })

    it('appends after a checkpoint without an interactive transaction', async () => {
      await using database = await open()
      let transactions = 0
      const transaction: Database['transaction'] = (work) => {
        transactions++
        return database.transaction(work)
      }
      const log = await openAuditLog({ ...database, transaction })
      await publishKeys(log.checkpoints)
      await log.append(1)
      assert.equal(await signDueChains(log.checkpoints), 1)
      transactions = 0
      await log.append(1)
      assert.equal(transactions, 0)
      const { checked, finding } = await log.verify()
      assert.deepEqual([checked, finding], [3, undefined])
    })

    it('does not sign a chain without the last checkpoint of this process', async () => {
      for (const rewrite of [
        `delete from audit_checkpoint`,
        `update audit_checkpoint set checkpoint = replace(checkpoint, '"count"', '"Count"')`,
      ]) {
        await using scene = await openScene(open)
        const { log, sign, database } = scene
        await log.append(5)
        assert.equal(await sign(), 1)
        await database.write([{ sql: rewrite }, { sql: 'update audit_chain set signed_sequence = 0' }])
        log.clock.passMs(61 * minuteMs)
        assert.deepEqual([await sign(), log.rewritten], [0, ['org_1']])
      }
    })

    it('signs unsigned events on shutdown, and nothing if there are none', async () => {
      await using scene = await openScene(open)
      const { log, checkpoints } = { ...scene, ...scene.log }
      await log.append(5)
      assert.equal(await scene.sign(), 1)
      await log.append(1)
      assert.deepEqual([await scene.sign(), await signDueChains(checkpoints, true)], [0, 1])
      assert.equal(await signDueChains(checkpoints, true), 0)
    })

    it('cuts at a checkpoint, records it, and the rest still verifies', async () => {
      await using scene = await openScene(open)
      const { log } = scene
      await days(scene, 6)
      const removed = await scene.trim()
      const { firstSequence, checkpoints } = (await log.reads.chainState('org_1')) ?? assert.fail()
      assert.equal(removed, 1)
      assert.equal(checkpoints[0]?.sequence, firstSequence - 1)
      assert.equal(await countOf(scene.database, 'audit_event', firstSequence), 0)
      assert.equal(await countOf(scene.database, 'audit_content', firstSequence), 0)
      const report = await log.verify()
      assert.deepEqual([report.first, report.finding, report.checkpointFinding], [firstSequence, undefined, undefined])
      const { items } = await log.reads.list('org_1', { code: 'audit.trimmed' }, { limit: 9, order: 'desc' })
      assert.deepEqual(items[0]?.document.unmapped.gatehouse, { first_sequence: 1, last_sequence: firstSequence - 1 })
      assert.equal(await scene.trim(), 0)
    })

    it('continues after a process ended before it removed everything', async () => {
      await using scene = await openScene(open)
      await days(scene, 6)
      await scene.trim()
      const { firstSequence } = (await scene.log.reads.chainState('org_1')) ?? assert.fail()
      const copy = `insert into audit_event (organization_id, sequence, id, chain_uid, time, code, fingerprint, body)
        select organization_id, 1, 'left behind', chain_uid, time, code, fingerprint, body from audit_event where sequence = $1`
      await scene.database.write([{ sql: copy, params: [firstSequence] }])
      await scene.trim()
      assert.equal(await countOf(scene.database, 'audit_event', firstSequence), 0)
    })

    it('waits for a sink with a backlog, but not without limit, and not for a disabled one or one of costs', async () => {
      for (const { enabled, sends, backlogDays, isCut } of [
        { enabled: 1, sends: 'events', backlogDays: 14, isCut: false },
        { enabled: 1, sends: 'events', backlogDays: 1, isCut: true },
        { enabled: 0, sends: 'events', backlogDays: 14, isCut: true },
        { enabled: 1, sends: 'costs', backlogDays: 14, isCut: true },
      ] as const) {
        await using scene = await openScene(open)
        await addLaggingSink(scene.database, { enabled, sends, sequence: 2 })
        await days(scene, 6)
        await scene.trim(backlogDays * dayMs)
        const { firstSequence } = (await scene.log.reads.chainState('org_1')) ?? assert.fail()
        assert.equal(firstSequence > 3, isCut, JSON.stringify({ enabled, sends, backlogDays }))
      }
    })
  })
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const log = await openAuditLog(database)
  await publishKeys(log.checkpoints)
  return {
    database,
    log,
    sign: () => signDueChains(log.checkpoints),
    trim: (maxBacklogMs = 14 * dayMs) =>
      trimChains({ database, clock: log.clock, events: log.events, keepMs: 3 * dayMs, maxBacklogMs }),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

/** Events and a checkpoint for each of these days. */
async function days({ log, sign }: Awaited<ReturnType<typeof openScene>>, count: number): Promise<void> {
  for (let day = 0; day < count; day++) {
    await log.append(3, { content: { full: { prompt: 'p' } } })
    await sign()
    log.clock.passMs(dayMs)
  }
}

async function countOf(database: Database, table: string, before: number): Promise<number | undefined> {
  const sql = `select count(*) as count from ${table} where sequence < $1`
  return (await database.read<{ count: number }>(sql, [before]))[0]?.count
}
