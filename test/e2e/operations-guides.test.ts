import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { after, before, beforeEach, describe, it } from 'node:test'
import { createScratchDatabase, withoutPostgres } from '../support/postgres.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const main = new URL('../../bin/gatehouse.mjs', import.meta.url).pathname

describe('the commands of a guide work as printed:', () => {
  let shell: Shell
  before(async () => void (shell = await openShell()))
  after(() => shell[Symbol.asyncDispose]())
  beforeEach(() => shell.useNewDataFolder())

  it('back up while the server runs, restore elsewhere, check, and practise', async () => {
    const [backup = '', restore = '', , check = '', practise = ''] = blocksOf('backup')
    {
      await using _server = await shell.start('gatehouse serve')
      await shell.run(backup)
    }
    shell.useNewDataFolder()
    await shell.run(restore)
    await shell.run(check)
    await shell.run(practise)
  })

  it('dump and restore PostgreSQL', { skip: withoutPostgres }, async () => {
    await using source = await createScratchDatabase()
    await using target = await createScratchDatabase()
    const GATEHOUSE_SECRET = 'the secret of both databases'
    await shell.run('gatehouse setup', { DATABASE_URL: source.url, GATEHOUSE_SECRET })
    const [, , dump = ''] = blocksOf('backup')
    await shell.run(dump, { DATABASE_URL: source.url, NEW_DATABASE_URL: target.url })
    const restored = { DATABASE_URL: target.url, GATEHOUSE_SECRET }
    assert.match(await shell.run('gatehouse keys list', restored), /key_/)
  })

  it('move embedded storage to PostgreSQL', { skip: withoutPostgres }, async () => {
    await using target = await createScratchDatabase()
    const [, move = '', check = ''] = blocksOf('scale-out')
    {
      await using _server = await shell.start('gatehouse serve')
    }
    const environment = { NEW_DATABASE_URL: target.url }
    assert.match(await shell.run(move, environment), /GATEHOUSE_SECRET +the content of the file/)
    assert.match(await shell.run(check, environment), /key_.*are linked without a gap.*The ledger is consistent/s)
  })

  it('rotate the server secret', async () => {
    await shell.run('gatehouse setup')
    const [rotate = ''] = blocksOf('secrets')
    // The keys of the setup were never used, so they still need the old secret, and retiring it would end them.
    await assert.rejects(shell.run(rotate), /3 keys were not used since the rotation/)
    await shell.run('gatehouse secret retire --force')
  })
})

it('a guide to operation with commands that no test runs says so', () => {
  const pages = [
    'as-code',
    'backup',
    'deploy',
    'kubernetes',
    'observe',
    'operating',
    'scale-out',
    'secrets',
    'traces',
    'upgrade',
  ]
  const silent = pages.filter((page) => {
    const guide = readGuide(page)
    return guide.includes('```console') && !/not run|no test runs/.test(guide)
  })
  assert.deepEqual(silent, [])
})

/** Blocks marked `sh`: a test runs them. Commands that no test runs are in blocks marked `console`. */
function blocksOf(guide: string): string[] {
  return [...readGuide(guide).matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block)
}

const readGuide = (name: string): string =>
  readFileSync(new URL(`../../docs/guide/${name}.md`, import.meta.url), 'utf8')

type Shell = AsyncDisposable & {
  useNewDataFolder(): void
  /** Runs a script with the command `gatehouse` and returns its output. Fails if one of its commands fails. */
  run(script: string, environment?: NodeJS.ProcessEnv): Promise<string>
  /** Starts a command that serves, and waits until it does. */
  start(command: string): Promise<AsyncDisposable>
}

async function openShell(): Promise<Shell> {
  const folder = await temporaryFolder()
  const at = (name: string): string => join(folder.path, name)
  for (const name of ['bin', 'backups']) mkdirSync(at(name))
  writeFileSync(at('bin/gatehouse'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, { mode: 0o755 })
  // Debian keeps the programs of PostgreSQL in a folder of their version.
  const path = [at('bin'), process.env['PATH'], ...globSync('/usr/lib/postgresql/*/bin')].join(delimiter)
  let dataFolders = 0
  const launch = (script: string, environment: NodeJS.ProcessEnv = {}) => {
    const own = script
      .replaceAll('/backups/', `${at('backups')}/`)
      .replaceAll('/tmp/restored', at('restored'))
      .replaceAll(/GATEHOUSE_PORT=\d+/g, 'GATEHOUSE_PORT=0')
    const GATEHOUSE_DATA_DIR = at(`data-${dataFolders}`)
    return spawn('bash', ['-euo', 'pipefail', '-c', own], {
      cwd: folder.path,
      env: { PATH: path, GATEHOUSE_PORT: '0', GATEHOUSE_DATA_DIR, GATEHOUSE_LOG_LEVEL: 'silent', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
  }
  return {
    useNewDataFolder: () => void dataFolders++,
    async run(script, environment) {
      const child = launch(script, environment)
      const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
      if (code !== 0) throw new Error(`${script}\nended with ${code}:\n${out}${errors}`)
      return out
    },
    async start(command) {
      const child = launch(command)
      const closed = once(child, 'close')
      child.stderr.resume()
      for await (const line of createInterface(child.stdout)) if (/"api":"[^"]+\/v1"/.test(line)) break
      child.stdout.resume()
      assert.equal(child.exitCode, null, `${command} did not start`)
      return {
        async [Symbol.asyncDispose]() {
          if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
          await closed
        },
      }
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}
