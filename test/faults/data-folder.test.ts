import assert from 'node:assert/strict'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import {
  DataFolderInUse,
  lockDataFolder,
  readOrCreateSecret,
} from '../../src/adapters/stores/sql/sqlite/data-folder.ts'
import { startTestApp } from '../support/app.ts'
import { startProgram, type Program } from '../support/program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

describe('the lock of a data folder', () => {
  it('creates the folder with access for its owner only', async () => {
    await using folder = await temporaryFolder()
    const dataDir = join(folder.path, 'deep', 'data')
    using _lock = lockDataFolder(dataDir)
    assert.equal(statSync(dataDir).mode & 0o777, 0o700)
  })

  it('rejects a second process, and names the folder and the first process', async () => {
    await using folder = await temporaryFolder()
    await using holder = await startHolder(folder.path)
    assert.throws(
      () => lockDataFolder(folder.path),
      (error) => {
        assert.ok(error instanceof DataFolderInUse)
        assert.equal(error.pid, holder.pid)
        assert.match(error.message, new RegExp(`${folder.path} is in use by process ${holder.pid}. Stop it first`))
        return true
      },
    )
  })

  it('rejects a second process although somebody removed the lock file', async () => {
    await using folder = await temporaryFolder()
    await using holder = await startHolder(folder.path)
    rmSync(join(folder.path, 'lock.db'))
    assert.throws(() => lockDataFolder(folder.path), new RegExp(`is in use by process ${holder.pid}. Stop it first`))
    assert.equal(readFileSync(join(folder.path, 'gatehouse.pid'), 'utf8'), `${holder.pid}\n`)
    await holder.kill()
    using _lock = lockDataFolder(folder.path)
  })

  it('is held by a server that answers on its control socket, whatever files of the lock are gone', async () => {
    await using app = await startTestApp()
    for (const name of ['lock.db', 'gatehouse.pid']) rmSync(join(app.dataDir, name))
    const second = startTestApp({ storage: { data_dir: app.dataDir }, isFirst: false })
    await assert.rejects(
      second.then((started) => started[Symbol.asyncDispose]()),
      DataFolderInUse,
    )
    assert.equal((await app.get('/health/ready')).status, 200)
  })

  it('is free at once when its holder was killed', async () => {
    await using folder = await temporaryFolder()
    await using holder = await startHolder(folder.path)
    await holder.kill()
    using _lock = lockDataFolder(folder.path)
    assert.equal(readFileSync(join(folder.path, 'gatehouse.pid'), 'utf8'), `${process.pid}\n`)
  })

  it('rejects a second holder in the same process, and is free again after release', async () => {
    await using folder = await temporaryFolder()
    const first = lockDataFolder(folder.path)
    assert.throws(() => lockDataFolder(folder.path), DataFolderInUse)
    first[Symbol.dispose]()
    first[Symbol.dispose]()
    using _second = lockDataFolder(folder.path)
    assert.throws(() => lockDataFolder(folder.path), DataFolderInUse)
  })
})

describe('the secret of a data folder', () => {
  it('is created once, readable only by its owner', async () => {
    await using folder = await temporaryFolder()
    const secret = readOrCreateSecret(folder.path)
    assert.equal(Buffer.from(secret, 'base64url').length, 32)
    assert.equal(readOrCreateSecret(folder.path), secret)
    assert.equal(statSync(join(folder.path, 'secret')).mode & 0o777, 0o600)
  })

  it('is not replaced when the file was damaged', async () => {
    await using folder = await temporaryFolder()
    writeFileSync(join(folder.path, 'secret'), 'half a secr')
    assert.throws(() => readOrCreateSecret(folder.path), /does not contain 32 bytes in base64url/)
  })
})

async function startHolder(dataDir: string): Promise<Program> {
  const holder = startProgram(new URL('programs/hold-folder.ts', import.meta.url), [dataDir])
  for await (const _line of holder.lines) return holder
  throw new Error('the holder ended before it had the folder')
}
