import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { openFreshClone } from './fresh-clone.ts'

describe('a fresh clone', () => {
  it('is installed once and then left alone', async () => {
    using clone = openFreshClone()
    assert.equal((await clone.start().ended).status, 0)
    assert.deepEqual(await clone.start().ended, { status: 0, said: '' })
    assert.deepEqual(clone.calls(), ['ci'])
  })

  it('is installed again when the lock file asks for another version', async () => {
    using clone = openFreshClone()
    await clone.start().ended
    clone.lock({ '': {}, 'node_modules/left': { version: '1.0.1' } })
    await clone.start().ended
    assert.deepEqual(clone.calls(), ['ci', 'ci'])
  })

  it('may lack the optional packages of other platforms', async () => {
    using clone = openFreshClone()
    await clone.start().ended
    clone.lock({
      'node_modules/left': { version: '1.0.0' },
      'node_modules/left-mac': { version: '1.0.0', optional: true },
    })
    await clone.start().ended
    assert.deepEqual(clone.calls(), ['ci'])
  })

  it('gets its Node also where npm skips install scripts', async () => {
    using clone = openFreshClone()
    writeFileSync(clone.pathOf('skip-scripts'), '')
    assert.equal((await clone.start().ended).status, 0)
    assert.deepEqual(clone.calls(), ['ci', 'rebuild'])
  })

  it('says what to do when the registry cannot be reached, and recovers once it can', async () => {
    using clone = openFreshClone()
    writeFileSync(clone.pathOf('offline'), '')
    const { status, said } = await clone.start().ended
    assert.equal(status, 1)
    assert.match(said, /ENOTFOUND[^]*is the machine offline/)
    rmSync(clone.pathOf('offline'))
    assert.equal((await clone.start().ended).status, 0)
  })
})

describe('a machine that cannot run the pinned Node', () => {
  it('is told why, and tries again from the start once it can', async () => {
    using clone = openFreshClone()
    writeFileSync(clone.pathOf('strange-machine'), '')
    const { status, said } = await clone.start().ended
    assert.equal(status, 1)
    assert.match(said, /does not run on this machine: wrong kind of machine/)
    assert.equal(existsSync(clone.pathOf('node_modules/.bin/node')), false)
    rmSync(clone.pathOf('strange-machine'))
    assert.equal((await clone.start().ended).status, 0)
    assert.deepEqual(clone.calls(), ['ci', 'rebuild'])
  })
})

describe('two runs at once', { timeout: 30_000 }, () => {
  it('install once: the second waits for the first', async () => {
    using clone = openFreshClone()
    const npm = clone.holdNpm()
    const first = clone.start()
    await npm.isReached
    const second = clone.start()
    await second.hasSaid('waiting')
    await npm.letGo()
    assert.equal((await first.ended).status, 0)
    assert.equal((await second.ended).status, 0)
    assert.deepEqual(clone.calls(), ['ci'])
    assert.deepEqual(readdirSync(clone.pathOf('tmp')), [])
  })

  it('wait for an npm whose own run was killed', async () => {
    using clone = openFreshClone()
    const npm = clone.holdNpm()
    const first = clone.start()
    await npm.isReached
    first.kill()
    await first.ended
    const second = clone.start()
    await second.hasSaid('waiting')
    await npm.letGo()
    assert.equal((await second.ended).status, 0)
    assert.deepEqual(clone.calls(), ['ci'])
    assert.deepEqual(readdirSync(clone.pathOf('tmp')), [])
  })

  it('do not wait for the dead: an interrupted installation is repaired', async () => {
    using clone = openFreshClone()
    const npm = clone.holdNpm()
    const first = clone.start()
    await npm.isReached
    for (const pid of clone.lockOwners()) process.kill(pid, 'SIGKILL')
    await first.ended
    await npm.forget()
    assert.equal((await clone.start().ended).status, 0)
    assert.deepEqual(clone.calls(), ['ci', 'ci'])
    assert.deepEqual(readdirSync(clone.pathOf('tmp')), [])
  })
})
