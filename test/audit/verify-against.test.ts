import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { objectsOf } from '../../src/adapters/sinks/s3-objects.ts'
import { createSigningKey } from '../../src/domain/audit/chain/checkpoint.ts'
import { readChained } from '../../src/domain/audit/chain/chained-event.ts'
import type { ChainedDocument } from '../../src/domain/audit/event/document.ts'
import { deriveKey } from '../../src/domain/server-secret/keyring.ts'
import { auditFolders, auditSecret } from '../support/audit-folder.ts'
import { forgeLog } from '../support/forge-log.ts'

/** The key of the server secret, whose signatures are valid. */
const key = createSigningKey(deriveKey(auditSecret, 'audit checkpoints'))

describe('audit verify --against exported events', () => {
  let folders: Awaited<ReturnType<typeof auditFolders>>
  before(async () => void (folders = await auditFolders()))
  after(() => folders[Symbol.asyncDispose]())

  it('counts the exported events and checkpoints that are in the log, with gaps, duplicates and in any format', async () => {
    const { run, folder } = folders.copy('same')
    const lines = (await run('export'))[1].split('\n')
    const documents = lines.map((line): ChainedDocument => readChained(line) ?? assert.fail())
    const bucket = join(folder, 'bucket')
    for (const { key: name, body } of await objectsOf(documents.slice(15, 30), 'gatehouse')) put(bucket, name, body)
    const hook = (from: number, to: number) => `{"type":"audit.events","data":[${lines.slice(from, to).join(',')}]}`
    put(folder, 'hook.ndjson', `${hook(0, 8)}\n${hook(4, 12)}\n${lines[41]}\n`)
    const [s3Code, s3Text] = await run('verify', '--against', bucket)
    assert.match(s3Text, /15 exported events and 1 checkpoint \(16 to 30\) match the log\.$/m)
    const [hookCode, hookText] = await run('verify', '--against', join(folder, 'hook.ndjson'))
    assert.match(hookText, /17 exported events and 1 checkpoint \(1 to 42\) match the log\.$/m)
    assert.deepEqual([s3Code, hookCode], [0, 0])
  })

  it('detects a log that was rewritten and signed again with the server secret', async () => {
    const { run, change, folder } = folders.copy('rewritten')
    put(folder, 'left.ndjson', (await run('export'))[1])
    await change((database) => forgeLog(database, { change: altered(12), key }))
    assert.equal((await run('verify'))[0], 0, 'no signature shows it')
    const [code, text] = await run('verify', '--against', join(folder, 'left.ndjson'))
    assert.match(text, /Event 12 differs from the log: the log was rewritten after it was exported \(line 12 of /)
    assert.equal(code, 1)
  })

  it('detects it by exported checkpoints alone', async () => {
    const { run, change, folder } = folders.copy('by-checkpoints')
    const lines = (await run('export'))[1].split('\n')
    put(folder, 'left.ndjson', lines.filter((line) => line.includes('"audit.checkpoint"')).join('\n'))
    await change((database) => forgeLog(database, { change: altered(12), key }))
    const [code, text] = await run('verify', '--against', join(folder, 'left.ndjson'))
    assert.match(text, /Event 20 differs from the log/)
    assert.equal(code, 1)
  })

  it('detects an end that was cut off together with its checkpoints', async () => {
    const { run, change, folder } = folders.copy('cut')
    put(folder, 'left.ndjson', (await run('export'))[1])
    await change((database) =>
      database.write([
        { sql: 'delete from audit_event where sequence > 20' },
        { sql: 'delete from audit_checkpoint where sequence > 20' },
        {
          sql: `update audit_chain set sequence = 20, signed_sequence = 20,
            fingerprint = (select fingerprint from audit_event where sequence = 20)`,
        },
      ]),
    )
    assert.equal((await run('verify'))[0], 0, 'no signature shows it')
    const [code, text] = await run('verify', '--against', join(folder, 'left.ndjson'))
    assert.match(text, /Event 21 is behind the end of the log: the end was cut off after it was exported/)
    assert.equal(code, 1)
  })

  it('distinguishes a changed copy from a changed log', async () => {
    const { run, folder } = folders.copy('copy-altered')
    put(folder, 'left.ndjson', (await run('export'))[1].replace('event 4', 'event 5'))
    const [code, text] = await run('verify', '--against', join(folder, 'left.ndjson'))
    assert.match(text, /Event 5 was altered in the export itself/)
    assert.equal(code, 1)
  })

  it('counts events that retention removed separately, and does not accept an empty comparison as proof', async () => {
    const { run, change, folder } = folders.copy('retained')
    put(folder, 'left.ndjson', (await run('export', '--to', '20'))[1])
    await change((database) =>
      database.write([
        { sql: 'delete from audit_event where sequence <= 20' },
        { sql: 'update audit_chain set first_sequence = 21' },
      ]),
    )
    const [code, text] = await run('verify', '--against', join(folder, 'left.ndjson'))
    assert.match(text, /it contains no event that is still in the log\.$/m)
    assert.equal(code, 1)
    assert.equal((await run('verify'))[0], 0)
  })

  it('cannot be combined with --file', async () => {
    const { run } = folders.copy('mixed')
    assert.equal((await run('verify', '--file', 'a', '--against', 'b'))[0], 2)
  })
})

const altered =
  (sequence: number) =>
  ({ attestation_list: _, ...document }: ChainedDocument) =>
    document.metadata.sequence === sequence ? { ...document, message: 'Nothing happened.' } : document

function put(folder: string, name: string, body: string | Uint8Array): void {
  const file = join(folder, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, body)
}
