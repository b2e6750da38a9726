import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { lockDataFolder, readOrCreateSecret } from '../../src/adapters/stores/sql/sqlite/data-folder.ts'
import { runCommandLine } from '../../src/cli/run.ts'
import { startTestApp } from '../support/app.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const secret = 'a-secret-of-the-environment-0123456789'

async function run(dataDir: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const written: string[] = []
  const code = await runCommandLine(args, {
    env: { GATEHOUSE_DATA_DIR: dataDir, GATEHOUSE_CONFIG: '/dev/null', GATEHOUSE_PORT: '1', ...env },
    print: (line) => written.push(line),
    printError: (line) => written.push(line),
    confirm: async () => false,
  })
  return { code, written: written.join('\n') }
}

describe('a database whose server secret is not configured', () => {
  it('is opened by no command, and gets no other secret', async () => {
    await using folder = await temporaryFolder()
    assert.equal((await run(folder.path, ['setup'], { GATEHOUSE_SECRET: secret })).code, 0)
    const missing = `There is a database in ${folder.path} but no server secret: set GATEHOUSE_SECRET, or restore the file`
    const commands = [
      'setup',
      'migrate',
      'orgs list',
      'keys list',
      'keys create --name n',
      'projects list',
      'ledger verify',
    ]
    const more = ['audit verify', 'secret status', 'secret rotate', 'doctor', `backup ${join(folder.path, 'a.backup')}`]
    for (const command of [...commands, ...more]) {
      const { code, written } = await run(folder.path, command.split(' '))
      assert.equal(code, 1, `${command}: ${written}`)
      assert.ok(written.includes(missing), `${command}: ${written}`)
      assert.equal(existsSync(join(folder.path, 'secret')), false, command)
    }
    await assert.rejects(startTestApp({ storage: { data_dir: folder.path }, isFirst: false }), {
      name: 'SecretMissing',
    })
    assert.equal(existsSync(join(folder.path, 'secret')), false)
    const listed = await run(folder.path, ['keys', 'list'], { GATEHOUSE_SECRET: secret })
    assert.equal(listed.code, 0, listed.written)
  })

  it('is not opened after the secret file was removed', async () => {
    await using folder = await temporaryFolder()
    assert.equal((await run(folder.path, ['setup'])).code, 0)
    rmSync(join(folder.path, 'secret'))
    const { code, written } = await run(folder.path, ['keys', 'list'])
    assert.deepEqual([code, /but no server secret/.test(written)], [1, true])
  })

  it('can be used with commands while a server that has the secret runs', async () => {
    await using folder = await temporaryFolder()
    await using _server = await startTestApp({ storage: { data_dir: folder.path }, config: { secret } })
    const { code, written } = await run(folder.path, ['keys', 'list'])
    assert.equal(code, 0, written)
    assert.equal(existsSync(join(folder.path, 'secret')), false)
  })
})

describe('a data folder without a database', () => {
  it('keeps the secret of a start that ended before the database was created', async () => {
    await using folder = await temporaryFolder()
    let created: string
    {
      using _lock = lockDataFolder(folder.path)
      created = readOrCreateSecret(folder.path)
    }
    assert.equal((await run(folder.path, ['setup'])).code, 0)
    assert.equal(readOrCreateSecret(folder.path), created)
  })
})
