import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { folderArchive } from '../../src/adapters/archive/folder.ts'
import { publishKeys, signDueChains } from '../../src/adapters/stores/sql/audit/checkpoints.ts'
import { trimChains } from '../../src/adapters/stores/sql/audit/retention.ts'
import { migrate, readMigrations } from '../../src/adapters/stores/sql/migrate.ts'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { createIds } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/random.ts'
import { createSigningKey } from '../../src/domain/audit/chain/checkpoint.ts'
import { manifestBytes, readManifest, signManifest } from '../../src/domain/audit/archive/manifest.ts'
import { auditCommand } from '../support/audit-folder.ts'
import { openAuditLog } from '../support/audit-log.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const dayMs = 24 * 60 * 60_000

/** The objects that `fill` archives. */
const names = ['01/000000000001-000000000003', '02/000000000004-000000000007', '03/000000000008-000000000011'].map(
  (name) => `org_1/2026/01/${name}`,
)
const [, second = '', third = ''] = names

describe('gatehouse audit verify --archive', () => {
  let root: Awaited<ReturnType<typeof temporaryFolder>>
  before(async () => {
    root = await temporaryFolder()
    await fill(join(root.path, 'original'))
  })
  after(() => root[Symbol.asyncDispose]())

  it('proves a whole archive, and that the log continues it', async () => {
    const { run, archive } = copy('whole')
    const [code, text] = await run('verify', '--archive', archive)
    assert.match(text, /^org_1: 11 events are linked without a gap \(1 to 11\), 3 checkpoints\.$/m)
    assert.match(text, /^Proven: events 1 to 11, signed on 2026-01-03/m)
    assert.match(text, /^Archive .*: 3 objects match their signed manifests, and the log continues from them\.$/m)
    assert.equal(code, 0)
  })

  it('lists what was archived', async () => {
    const { run } = copy('listed')
    const [, text] = await run('archive')
    assert.equal(text.split('\n').length, 4)
    assert.match(text, /2026-01-02 +4 +7 +\d+ .* folder +org_1\/2026\/01\/02\/000000000004-000000000007\.ndjson\.zst/)
    const [, json] = await run('archive', '--json')
    assert.deepEqual(
      JSON.parse(json).data.map((object: { count: number }) => object.count),
      [3, 4, 4],
    )
  })

  it('needs only the public keys to check the events of an archive as a file', async () => {
    const { run, archive, folder } = copy('offline')
    const keys = join(folder, 'keys.pem')
    writeFileSync(keys, (await run('keys'))[1])
    const [code, text] = await auditCommand(join(folder, 'nowhere'))('verify', '--file', archive, '--keys', keys)
    assert.match(text, /^Proven: events 1 to 11, /m)
    assert.equal(code, 0)
  })

  const faults: [title: string, fault: (archive: string) => void, expected: RegExp][] = [
    [
      'a byte of an object was flipped',
      (archive) => {
        const file = join(archive, `${second}.ndjson.zst`)
        const bytes = readFileSync(file)
        bytes[20] = (bytes[20] ?? 0) ^ 1
        writeFileSync(file, bytes)
      },
      new RegExp(`${second}.ndjson.zst was altered`),
    ],
    [
      'an object was removed with its manifest',
      (archive) => {
        for (const suffix of ['.ndjson.zst', '.manifest.json']) rmSync(join(archive, second + suffix))
      },
      new RegExp(`${second}.ndjson.zst was written by the service and is missing`),
    ],
    [
      'the first object was removed',
      (archive) => rmSync(join(archive, 'org_1/2026/01/01'), { recursive: true }),
      new RegExp(`${second}.ndjson.zst follows a gap`),
    ],
    [
      'the last object was removed',
      (archive) => rmSync(join(archive, 'org_1/2026/01/03'), { recursive: true }),
      new RegExp(`${third}.ndjson.zst was written by the service and is missing`),
    ],
    [
      'only the events of an object were removed',
      (archive) => rmSync(join(archive, `${third}.ndjson.zst`)),
      new RegExp(`${third}.ndjson.zst has a manifest, but its events are missing`),
    ],
    [
      'only the manifest of an object was removed',
      (archive) => rmSync(join(archive, `${second}.manifest.json`)),
      new RegExp(`${second}.ndjson.zst has no manifest`),
    ],
    [
      'two objects were swapped',
      (archive) => swap(archive, [`${second}.ndjson.zst`, `${third}.ndjson.zst`]),
      new RegExp(`${second}.ndjson.zst was altered`),
    ],
    [
      'two objects were swapped with their manifests',
      (archive) => {
        swap(archive, [`${second}.ndjson.zst`, `${third}.ndjson.zst`])
        swap(archive, [`${second}.manifest.json`, `${third}.manifest.json`])
      },
      new RegExp(`${second}.ndjson.zst has the manifest of another object`),
    ],
    [
      'a manifest was changed',
      (archive) => {
        const file = join(archive, `${second}.manifest.json`)
        writeFileSync(file, readFileSync(file, 'utf8').replace('"count":4', '"count":5'))
      },
      new RegExp(`${second}.ndjson.zst has a manifest with an invalid signature`),
    ],
    [
      'a manifest was signed with another key',
      (archive) => forge(join(archive, `${second}.manifest.json`)),
      new RegExp(`${second}.ndjson.zst has a manifest that was signed with a key that is not trusted`),
    ],
    [
      'a manifest is not JSON',
      (archive) => writeFileSync(join(archive, `${second}.manifest.json`), 'nothing'),
      new RegExp(`${second}.ndjson.zst has a manifest that cannot be read`),
    ],
  ]
  for (const [title, fault, expected] of faults) {
    it(`finds that ${title}`, async () => {
      const { run, archive } = copy(title.replaceAll(' ', '-'))
      fault(archive)
      const [code, text] = await run('verify', '--archive', archive)
      assert.match(text, expected)
      assert.equal(code, 1)
    })
  }

  it('finds that the log does not continue the archive', async () => {
    const { run, archive, change } = copy('unlinked')
    await change([
      `update audit_body set body = replace(body, '"prev_event":{"fingerprint":{"algorithm":"SHA-256","algorithm_id":3,"value":"', '"prev_event":{"fingerprint":{"algorithm":"SHA-256","algorithm_id":3,"value":"0') where sequence = 12`,
      `update audit_event set body = replace(body, '"prev_event":{"fingerprint":{"algorithm":"SHA-256","algorithm_id":3,"value":"', '"prev_event":{"fingerprint":{"algorithm":"SHA-256","algorithm_id":3,"value":"0') where sequence = 12`,
    ])
    const [code, text] = await run('verify', '--archive', archive)
    assert.match(text, /the log does not continue from its last event/)
    assert.equal(code, 1)
  })

  it('finds that events were removed from the log that are not in the archive', async () => {
    const { run, archive, change } = copy('log-gap')
    await change(['update audit_chain set first_sequence = 14', 'delete from audit_event where sequence < 14'])
    const [code, text] = await run('verify', '--archive', archive)
    assert.match(text, /the log begins later: the events between are in neither/)
    assert.equal(code, 1)
  })

  it('ignores an object that is being written', async () => {
    const { run, archive } = copy('unfinished')
    const day = join(archive, 'org_1/2026/01/04')
    mkdirSync(day)
    writeFileSync(join(day, '000000000012-000000000015.ndjson.zst'), 'half')
    writeFileSync(join(day, '.tmp_1'), 'half')
    assert.equal((await run('verify', '--archive', archive))[0], 0)
  })

  it('does not report an empty folder as whole, and rejects other ranges', async () => {
    const { run, folder } = copy('empty')
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    assert.equal((await run('verify', '--archive', empty))[0], 1)
    assert.equal((await run('verify', '--archive', empty, '--from', '3'))[0], 2)
    assert.equal((await run('verify', '--archive', join(folder, 'nowhere')))[0], 1)
  })

  function copy(name: string) {
    const folder = join(root.path, name)
    cpSync(join(root.path, 'original'), folder, { recursive: true })
    return {
      folder,
      archive: join(folder, 'archive'),
      run: auditCommand(folder),
      async change(statements: readonly string[]) {
        await using database = await openSqlite({ dataDir: folder })
        await database.write(statements.map((sql) => ({ sql })))
      },
    }
  }
})

function swap(archive: string, [one, other]: readonly [string, string]): void {
  const away = join(archive, 'away')
  renameSync(join(archive, one), away)
  renameSync(join(archive, other), join(archive, one))
  renameSync(away, join(archive, other))
}

/** Signs the manifest with a key that is not derived from the server secret. */
function forge(file: string): void {
  const found = readManifest(readFileSync(file, 'utf8')) ?? assert.fail()
  const { key_id: _keyId, signature: _signature, ...manifest } = found
  writeFileSync(file, manifestBytes(signManifest(manifest, createSigningKey(Buffer.alloc(32, 7)))))
}

/** A data folder whose log has six days, of which three are archived and removed. */
async function fill(folder: string): Promise<void> {
  mkdirSync(join(folder, 'archive'), { recursive: true, mode: 0o700 })
  await using database = await openSqlite({ dataDir: folder })
  await migrate(database, await readMigrations(new URL('../../migrations', import.meta.url).pathname))
  const log = await openAuditLog(database, undefined, ['org_1'])
  await publishKeys(log.checkpoints)
  for (let day = 0; day < 6; day++) {
    await log.append(3)
    await signDueChains(log.checkpoints)
    log.clock.passMs(dayMs)
  }
  const ids = createIds(log.clock, systemRandom)
  const target = folderArchive(join(folder, 'archive'), ids)
  const archive = { target, ids, keys: log.checkpoints.keys, onArchived: () => {} }
  const { clock, events } = log
  await trimChains({ database, clock, events, keepMs: 3 * dayMs, maxBacklogMs: 0, archive })
}
