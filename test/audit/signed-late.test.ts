import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createCheckpointFiles } from '../../src/adapters/stores/checkpoint-files.ts'
import { signDueChains } from '../../src/adapters/stores/sql/audit/checkpoints.ts'
import { isWhole } from '../../src/domain/audit/verify-log.ts'
import { startTestApp } from '../support/app.ts'
import { auditFolders, auditSecret } from '../support/audit-folder.ts'
import { openAuditLog, setClock } from '../support/audit-log.ts'
import { engines } from '../support/engines.ts'
import { forgeLog } from '../support/forge-log.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const hourMs = 3_600_000

let folders: Awaited<ReturnType<typeof auditFolders>>
before(async () => void (folders = await auditFolders()))
after(() => folders[Symbol.asyncDispose]())

/** Starts a server on the folder and stops it in the regular way, which signs what is not signed. */
async function startAndStop(folder: string): Promise<void> {
  await using _app = await startTestApp({
    storage: { data_dir: folder },
    config: { secret: auditSecret },
    isFirst: false,
  })
}

describe('a stopped log that was rewritten and lost all checkpoints', () => {
  it('is signed late: the next start signs it, and verification names the range and exits with 1', async () => {
    const { folder, run, change } = folders.copy('signed-late')
    await change((database) => forgeLog(database, { change: (document) => document }))
    await startAndStop(folder)
    const [code, text] = await run('verify')
    assert.equal(code, 1, text)
    assert.match(text, /^Signed late: events 1 to 40, on .*--accept-late 40/m)
    assert.doesNotMatch(text, /^Proven/m)
    const [, events] = await run('list', '--kind', 'audit.signed_late')
    assert.match(events, /Signed events 1 to 40 late/)
    const [accepted, acceptedText] = await run('verify', '--accept-late', '40')
    assert.equal(accepted, 0, acceptedText)
    assert.match(acceptedText, /^Signed late: events 1 to 40, on .*, accepted with --accept-late\.$/m)
    assert.equal((await run('verify', '--accept-late', '39'))[0], 1)
    assert.equal((await run('verify', '--from', '41'))[0], 0)
  })

  it('is not signed if the data folder still has the last checkpoint', async () => {
    const { folder, run, change } = folders.copy('kept-checkpoint')
    await change((database) => database.write([{ sql: 'update audit_chain set signed_at = 0' }])) // the next one is due
    await startAndStop(folder)
    assert.equal((await run('verify'))[0], 0)
    assert.ok(existsSync(join(folder, 'checkpoints', 'org_1.json')))
    await change((database) => forgeLog(database, { change: (document) => document }))
    for (let time = 0; time < 2; time++) await startAndStop(folder)
    const [code, text] = await run('verify')
    assert.equal(code, 1, text)
    assert.match(text, /^Not signed: events 1 to \d+, for longer than a running service takes\./m)
    rmSync(join(folder, 'checkpoints'), { recursive: true })
    await startAndStop(folder)
    assert.match((await run('verify'))[1], /^Signed late/m)
  })
})

for (const { name, skip, open } of engines)
  describe(`a late signature on ${name}`, { skip }, () => {
    it('is one over events that were not signed for five minutes, and no other', async () => {
      await using database = await open()
      const log = await openAuditLog(database, setClock(), ['org_1'])
      await log.append(3)
      await signDueChains(log.checkpoints)
      log.clock.passMs(2 * hourMs) // only the event of the checkpoint waits, as in a quiet log
      assert.equal(await signDueChains(log.checkpoints), 1)
      assert.equal(isWhole(await log.verify()), true)
      await log.append(2)
      log.clock.passMs(61_000)
      await signDueChains(log.checkpoints)
      assert.equal(isWhole(await log.verify()), true)
      assert.deepEqual(log.late, [])
      await log.append(2)
      log.clock.passMs(6 * 60_000)
      await log.append(1)
      await signDueChains(log.checkpoints)
      const report = await log.verify()
      assert.deepEqual(
        report.late?.map(({ from, to }) => [from, to]),
        [[8, 11]],
      )
      assert.equal(isWhole(report), false)
      assert.deepEqual(log.late, ['org_1'])
      log.clock.passMs(61_000)
      await signDueChains(log.checkpoints) // signs the event about the late signature
      assert.equal((await log.verify()).late?.length, 1)
      assert.equal(isWhole(await log.verify('org_1', { from: 12 })), true)
    })
  })

describe('checkpoints in the data folder', () => {
  it('survive the process, and an unreadable file counts as none', async () => {
    await using folder = await temporaryFolder()
    const checkpoint = {
      chain_uid: 'c',
      sequence: 3,
      fingerprint: 'f',
      count: 3,
      time: 1,
      key_id: 'k',
      previous: null,
      signature: 's',
    }
    await createCheckpointFiles(folder.path).set('org_1', checkpoint)
    assert.deepEqual(await createCheckpointFiles(folder.path).get('org_1'), checkpoint)
    assert.equal(await createCheckpointFiles(folder.path).get('org_2'), undefined)
    assert.equal(await createCheckpointFiles(folder.path).get('../org_1'), undefined)
  })
})
