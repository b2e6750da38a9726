import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { temporaryFolder } from '../support/temporary-folder.ts'

const root = new URL('../..', import.meta.url).pathname

/** Starts the server as the README says, and waits until it listens. */
async function npmStart(test: TestContext) {
  const folder = await temporaryFolder()
  test.after(() => folder[Symbol.asyncDispose]())
  const config = join(folder.path, 'gatehouse.yaml')
  writeFileSync(config, '')
  const data = join(folder.path, 'data')
  const npm = spawn('npm', ['start', '--silent'], {
    cwd: root,
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      GATEHOUSE_CONFIG: config,
      GATEHOUSE_DATA_DIR: data,
      GATEHOUSE_PORT: '0',
      GATEHOUSE_LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true, // leads a process group, so that the clean-up also ends what npm started
  })
  test.after(() => endGroup(npm.pid))
  const output = text(npm.stdout)
  const exit = once(npm, 'exit')
  await Promise.race([once(npm.stdout, 'data'), exit])
  return { npm, exit, output, isServing: () => existsSync(join(data, 'control.sock')) }
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // All processes have ended.
  }
}

describe('npm start', { concurrency: true, timeout: 60_000 }, () => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const) {
    it(`leaves no server behind if only npm gets ${signal}`, async (test) => {
      const { npm, output, isServing } = await npmStart(test)
      assert.equal(isServing(), true)
      npm.kill(signal)
      // The server holds the other end of npm's standard output: this ends when both have.
      assert.match(await output, /Stopping/)
      assert.equal(isServing(), false)
    })
  }

  it('waits for the server to stop, and its exit code says that it stopped in order', async (test) => {
    const { npm, exit, isServing } = await npmStart(test)
    npm.kill('SIGTERM')
    assert.deepEqual(await exit, [0, null])
    assert.equal(isServing(), false)
  })
})
