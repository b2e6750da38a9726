import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { appendInTransaction, createAuditAppender, lockHead } from '../../src/adapters/stores/sql/audit/chain.ts'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { openAuditLog, requestFacts } from '../support/audit-log.ts'
import type { Engine } from '../support/engines.ts'

/** The audit chain, on every engine. */
export function auditChainContract({ name, skip, open }: Engine): void {
  describe(`audit chain: ${name}`, { skip }, () => {
    it('has one sequence per organization, from 1, without a gap', async () => {
      await using database = await open()
      const log = await openAuditLog(database)
      await log.append(3)
      await log.append(45)
      await log.append(2, {}, 'org_2')
      assert.deepEqual(await sequencesOf(database, 'org_1'), numbersTo(48))
      assert.deepEqual(await sequencesOf(database, 'org_2'), [1, 2])
      assert.deepEqual([(await log.verify()).checked, (await log.verify()).finding], [48, undefined])
    })

    it('stays whole with concurrent appenders, each with its own cache', async () => {
      await using database = await open()
      const log = await openAuditLog(database)
      const writers = [1, 2, 3].map(() => createAuditAppender(database, log.events))
      const appends = Array.from({ length: 30 }, (_, at) =>
        writers[at % 3]?.append('org_1', [log.events.makeEvent(requestFacts({}, log.clock))]),
      )
      await Promise.all([...appends, ...Array.from({ length: 10 }, () => appendWithChange(database, log))])
      assert.deepEqual(await sequencesOf(database, 'org_1'), numbersTo(40))
      assert.equal((await log.verify()).finding, undefined)
    })

    it('reports how long an append waited for the head of its chain, except where nothing locks it', async () => {
      await using database = await open()
      const log = await openAuditLog(database)
      const waits: number[] = []
      const onLocked = (waitMs: number): void => void waits.push(waitMs)
      const appender = createAuditAppender(database, { ...log.events, clock: log.clock, onLocked })
      const append = (): Promise<void> => appender.append('org_1', [log.events.makeEvent(requestFacts({}, log.clock))])
      await append() // creates the chain
      assert.deepEqual(waits, [])
      const locked = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      const holder = database.transaction(async (tx) => {
        await lockHead(tx, 'org_1')
        locked.resolve()
        await released.promise
      })
      await locked.promise
      const appended = append()
      log.clock.passMs(250)
      released.resolve()
      await Promise.all([holder, appended])
      assert.deepEqual(waits, database.engine === 'sqlite' ? [] : [250])
    })

    it('is unchanged by a failed transaction', async () => {
      await using database = await open()
      const log = await openAuditLog(database)
      await log.append(1)
      await assert.rejects(appendWithChange(database, log, new Error('no')), /no/)
      await log.append(1)
      assert.deepEqual(await sequencesOf(database, 'org_1'), [1, 2])
      assert.equal((await log.verify()).finding, undefined)
    })

    it('appends an event once, however often it is retried', async () => {
      await using database = await open()
      const log = await openAuditLog(database)
      const made = [1, 2, 3].map(() => log.events.makeEvent(requestFacts({}, log.clock)))
      await log.appender.append('org_1', made.slice(0, 2))
      await log.appender.append('org_1', made, true)
      await log.appender.append('org_1', made, true)
      assert.deepEqual(await sequencesOf(database, 'org_1'), [1, 2, 3])
      await assert.rejects(log.appender.append('org_1', made))
      assert.equal((await log.verify()).finding, undefined)
    })

    it('stores texts apart from the events, where they can be erased but not changed', async () => {
      await using database = await open()
      const log = await openAuditLog(database)
      const content = { full: { prompt: 'what?', response: 'that.\n😀' } }
      await log.append(3, { content })
      assert.deepEqual((await log.reads.events('org_1', { after: 1, limit: 1, withTexts: true }))[0]?.content, content)
      const { rows } = { rows: await log.reads.rows('org_1', { after: 0, limit: 9 }) }
      assert.ok(rows.every(({ body }) => !body.includes('what?')))
      await database.write([{ sql: 'delete from audit_content where sequence = 1' }])
      assert.equal((await log.verify()).finding, undefined)
      await database.write([
        { sql: `update audit_content set content = replace(content, 'what', 'who') where sequence = 3` },
      ])
      assert.deepEqual((await log.verify()).finding, { sequence: 3, reason: 'texts_altered' })
    })
  })
}

type Log = Awaited<ReturnType<typeof openAuditLog>>

/** Like a mutation: the event is written in the transaction of the change that it records. */
const appendWithChange = (database: Database, { events, clock }: Log, failure?: Error) =>
  database.transaction(async (tx) => {
    await tx.run(`update organization set version = version + 1 where id = 'org_1'`)
    const chain = { organizationId: 'org_1', authorityUid: events.authorityUid }
    await appendInTransaction(tx, [events.makeEvent(requestFacts({}, clock))], chain)
    if (failure) throw failure
  })

const numbersTo = (last: number): number[] => Array.from({ length: last }, (_, at) => at + 1)

async function sequencesOf(database: Database, organizationId: string): Promise<number[]> {
  const sql = 'select sequence from audit_event where organization_id = $1 order by sequence'
  return (await database.read<{ sequence: number }>(sql, [organizationId])).map(({ sequence }) => sequence)
}
