import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { createAuditAppender } from '../../src/adapters/stores/sql/audit/chain.ts'
import { createAuditParts } from '../../src/app/audit-parts.ts'
import { openStorage } from '../../src/app/storage/storage.ts'
import { systemClock } from '../../src/base/clock.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { readConfig } from '../../src/config/config.ts'
import { requestFacts } from '../support/audit-log.ts'
import { openCommandLine } from '../support/command-line.ts'

/** Appends requests as version 0.2.0 did, with their bodies in `audit_event`, and calls back before the folder is unlocked. */
async function appendAsBefore(dataDir: string, organizationId: string, beforeClose: () => Promise<void>) {
  const parts = { clock: systemClock, random: systemRandom }
  await using storage = await openStorage(readConfig({ GATEHOUSE_DATA_DIR: dataDir }), parts)
  const { events } = createAuditParts({ ...storage, ...parts, ids: createIds(systemClock, systemRandom) })
  const appender = createAuditAppender(storage.database, { ...events, canStage: () => false })
  const facts = requestFacts({ organizationId }, systemClock)
  await appender.append(
    organizationId,
    Array.from({ length: 1_000 }, () => events.makeEvent(facts)),
  )
  await storage.database.write([{ sql: 'update audit_chain set packed_sequence = sequence' }])
  await beforeClose()
}

describe('gatehouse compact', () => {
  it('compresses the events of an older version and gives the disk back, but not while the server runs', async () => {
    await using commandLine = await openCommandLine()
    const { call, json, dataDir } = commandLine
    const { organization_id: organizationId } = await json('setup')
    await appendAsBefore(dataDir, organizationId, async () => {
      const { status, errors } = await call('compact')
      assert.equal(status, 1)
      assert.match(errors, /is in use/)
    })
    const file = join(dataDir, 'gatehouse.db')
    const { size, mode } = statSync(file)
    const compacted = await json('compact')
    assert.deepEqual([compacted.events_compressed, compacted.bytes_before], [7 * 128, size])
    assert.ok(compacted.bytes_after < size - 1_000_000, JSON.stringify(compacted))
    assert.deepEqual([statSync(file).size, statSync(file).mode], [compacted.bytes_after, mode])
    const verified = await call('audit', 'verify')
    assert.deepEqual([verified.status, /1001 events are linked/.test(verified.output)], [0, true], verified.output)
    assert.equal((await call('ledger', 'verify')).status, 0)
    using database = new DatabaseSync(file, { readOnly: true })
    assert.deepEqual(database.prepare('pragma integrity_check').all().map(Object.values), [['ok']])
  })

  it('says so if there is no database', async () => {
    await using commandLine = await openCommandLine()
    const { status, errors } = await commandLine.call('compact')
    assert.deepEqual([status, /There is no database in .* to compact/.test(errors)], [1, true], errors)
  })
})
