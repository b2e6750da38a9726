import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, createReadStream, existsSync, mkdtempSync, readdirSync, rmSync, watch } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { startSupervised, type ServerSpec } from '../../scripts/test/supervised-server.ts'

const parentFolder = mkdtempSync(join(tmpdir(), 'gatehouse-supervised-test-'))
chmodSync(parentFolder, 0o777) // as root, servers run as another user
after(() => rmSync(parentFolder, { recursive: true, force: true }))

describe('a supervised server', () => {
  it('gets its files in its own folder', async () => {
    const server = startSupervised({ ...specOf(['cat', 'word']), files: { word: 'hello' } })
    assert.equal(await server.ended, 'hello')
  })

  it('returns its error output when it exits', async () => {
    const server = startSupervised(specOf(['/bin/sh', '-c', 'echo "port in use" >&2; exit 1']))
    assert.equal(await server.ended, 'port in use\n')
  })

  it('is stopped, and its folder removed, when it is disposed', async () => {
    const witness = openWitness('disposed')
    const server = startSupervised(specOf(witness.command))
    const folder = await witness.folder
    assert.ok(existsSync(folder))
    await server[Symbol.asyncDispose]()
    await witness.serverGone
    assert.equal(existsSync(folder), false)
  })

  it('is stopped, and its folder removed, after the runner was killed', { timeout: 20_000 }, async () => {
    const witness = openWitness('killed')
    const runner = spawn(process.execPath, ['--input-type=module', '--eval', runnerOf(witness.command)], {
      env: { ...process.env, TMPDIR: parentFolder },
    })
    const folder = await witness.folder
    const folderGone = goneOf(folder)
    runner.kill('SIGKILL')
    await once(runner, 'exit')
    await witness.serverGone
    await folderGone
    assert.deepEqual(
      readdirSync(parentFolder).filter((name) => name.startsWith('gatehouse-test-')),
      [],
    )
  })
})

const specOf = (command: readonly string[]): ServerSpec => ({
  name: 'stand-in',
  files: {},
  command,
  stopSignal: 'KILL',
})

/** A program that starts one server and then waits. */
const runnerOf = (command: readonly string[]): string => `
  import { startSupervised } from ${JSON.stringify(import.meta.resolve('../../scripts/test/supervised-server.ts'))}
  startSupervised(${JSON.stringify(specOf(command))})
  setInterval(() => {}, 60_000)
`

/** A server that writes its folder to a pipe and then waits. The pipe ends when the server does. */
function openWitness(name: string) {
  const pipe = join(parentFolder, name)
  execFileSync('mkfifo', [pipe])
  chmodSync(pipe, 0o666)
  const reader = createReadStream(pipe, 'utf8')
  return {
    command: ['/bin/sh', '-c', 'exec 4>"$0"; echo "$PWD" >&4; exec sleep 600', pipe],
    folder: once(reader, 'data').then(([line]) => String(line).trim()),
    serverGone: once(reader, 'close'),
  }
}

/** Resolves when the folder no longer exists. */
function goneOf(folder: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const watcher = watch(parentFolder, () => {
    if (!existsSync(folder)) resolve()
  })
  return promise.finally(() => watcher.close())
}
