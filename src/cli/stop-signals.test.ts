import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHandClock } from '../../test/support/hand-clock.ts'
import packageFile from '../../package.json' with { type: 'json' }
import type { Environment } from '../config/config.ts'
import { watchNpm } from './stop-signals.ts'

/** A server with this environment, whose parent ends. Returns whether the server notices. */
async function noticesEndOfParent(env: Environment): Promise<boolean> {
  const { clock, pass } = createHandClock()
  let isGone = false
  let isNoticed = false
  watchNpm(env, { clock, isGone: () => isGone, onGone: () => (isNoticed = true) })
  await pass(60_000)
  assert.equal(isNoticed, false)
  isGone = true
  await pass(60_000)
  return isNoticed
}

describe('a server whose parent process ends', () => {
  for (const script of ['start', 'gatehouse'] as const) {
    it(`stops if npm ran the script ${script}`, async () => {
      assert.equal(await noticesEndOfParent({ npm_lifecycle_script: packageFile.scripts[script] }), true)
    })
  }

  it('stops if npx ran the command', async () => {
    for (const script of ["'gatehouse'", 'gatehouse'])
      assert.equal(await noticesEndOfParent({ npm_lifecycle_event: 'npx', npm_lifecycle_script: script }), true)
  })

  it('keeps running if npx ran another command, which may leave it running on purpose', async () => {
    const env = { npm_lifecycle_event: 'npx', npm_lifecycle_script: 'nohup gatehouse serve &' }
    assert.equal(await noticesEndOfParent(env), false)
  })

  it('keeps running if a shell, setsid, nohup or a service manager started it', async () => {
    assert.equal(await noticesEndOfParent({}), false)
  })

  it('keeps running if the parent was a script of another package, which may leave it running on purpose', async () => {
    const env = { npm_lifecycle_event: 'start', npm_lifecycle_script: './deploy.sh' }
    assert.equal(await noticesEndOfParent(env), false)
  })
})
