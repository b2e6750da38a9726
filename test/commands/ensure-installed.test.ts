import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { openFreshClone } from './fresh-clone.ts'

describe('a fresh clone', () => {
  it('is installed once, and not again while nothing changes', async () => {
    using clone = openFreshClone()
    assert.equal((await clone.start().ended).status, 0)
    assert.deepEqual(await clone.start().ended, { status: 0, output: '' })
    assert.deepEqual(clone.calls(), ['ci'])
  })

  it('is installed again when the lock file names another version', async () => {
    using clone = openFreshClone()
    await clone.start().ended
    clone.lock({ '': {}, 'node_modules/left': { version: '1.0.1' } })
    await clone.start().ended
    assert.deepEqual(clone.calls(), ['ci', 'ci'])
  })

  it('needs no optional packages of other platforms', async () => {
    using clone = openFreshClone()
    await clone.start().ended
    clone.lock({
      'node_modules/left': { version: '1.0.0' },
      'node_modules/left-mac': { version: '1.0.0', optional: true },
    })
    await clone.start().ended
    assert.deepEqual(clone.calls(), ['ci'])
  })

  it('has only what serving needs before it serves, and the tools of tests are added without emptying node_modules', async () => {
    using clone = openFreshClone()
    const left = { version: '1.0.0' }
    const tool = { version: '1.0.0', dev: true }
    clone.lock({ 'node_modules/left': left })
    await clone.start('--serving').ended
    clone.lock({ 'node_modules/left': left, 'node_modules/tool': tool })
    assert.deepEqual(await clone.start('--serving').ended, { status: 0, output: '' })
    assert.equal((await clone.start().ended).status, 0)
    assert.deepEqual(await clone.start('--serving').ended, { status: 0, output: '' })
    const [first, second, ...others] = clone.commands()
    assert.match(first ?? '', /^ci --omit=dev /)
    assert.match(second ?? '', /^install --no-save --include=dev /)
    assert.deepEqual(others, [])
  })

  it('keeps of the run time of the encoder only what this machine loads', async () => {
    using clone = openFreshClone()
    const libraries = ['aix/mips', `${process.platform}/mips`, `${process.platform}/${process.arch}`].map((name) =>
      clone.pathOf(`node_modules/onnxruntime-node/bin/napi-v6/${name}`),
    )
    for (const folder of libraries) mkdirSync(folder, { recursive: true })
    await clone.start().ended
    assert.deepEqual(libraries.map(existsSync), [false, false, true])
  })

  it('installs its Node even if npm skips install scripts', async () => {
    using clone = openFreshClone()
    writeFileSync(clone.pathOf('skip-scripts'), '')
    assert.equal((await clone.start().ended).status, 0)
    assert.deepEqual(clone.calls(), ['ci', 'rebuild'])
  })

  it('prints what to do if the registry is unreachable, and recovers when it is reachable', async () => {
    using clone = openFreshClone()
    writeFileSync(clone.pathOf('offline'), '')
    const { status, output } = await clone.start().ended
    assert.equal(status, 1)
    assert.match(output, /ENOTFOUND[^]*is the machine offline/)
    rmSync(clone.pathOf('offline'))
    assert.equal((await clone.start().ended).status, 0)
  })
})

describe('a machine that cannot run the pinned Node', () => {
  it('gets the reason, and the next run installs again', async () => {
    using clone = openFreshClone()
    writeFileSync(clone.pathOf('wrong-platform'), '')
    const { status, output } = await clone.start().ended
    assert.equal(status, 1)
    assert.match(output, /does not run on this machine: wrong kind of machine/)
    assert.equal(existsSync(clone.pathOf('node_modules/.bin/node')), false)
    rmSync(clone.pathOf('wrong-platform'))
    assert.equal((await clone.start().ended).status, 0)
    assert.deepEqual(clone.calls(), ['ci', 'rebuild'])
  })
})

describe('two runs at the same time', { timeout: 30_000 }, () => {
  it('install once: the second waits for the first', async () => {
    using clone = openFreshClone()
    const npm = clone.holdNpm()
    const first = clone.start()
    await npm.isReached
    const second = clone.start()
    await second.hasPrinted('waiting')
    await npm.release()
    assert.equal((await first.ended).status, 0)
    assert.equal((await second.ended).status, 0)
    assert.deepEqual(clone.calls(), ['ci'])
    assert.deepEqual(readdirSync(clone.pathOf('tmp')), [])
  })

  it('wait for an npm process whose parent run was killed', async () => {
    using clone = openFreshClone()
    const npm = clone.holdNpm()
    const first = clone.start()
    await npm.isReached
    first.kill()
    await first.ended
    const second = clone.start()
    await second.hasPrinted('waiting')
    await npm.release()
    assert.equal((await second.ended).status, 0)
    assert.deepEqual(clone.calls(), ['ci'])
    assert.deepEqual(readdirSync(clone.pathOf('tmp')), [])
  })

  it('do not wait for dead processes, and repair an interrupted installation', async () => {
    using clone = openFreshClone()
    const npm = clone.holdNpm()
    const first = clone.start()
    await npm.isReached
    for (const pid of clone.lockOwners()) process.kill(pid, 'SIGKILL')
    await first.ended
    await npm.abandon()
    assert.equal((await clone.start().ended).status, 0)
    assert.deepEqual(clone.calls(), ['ci', 'ci'])
    assert.deepEqual(readdirSync(clone.pathOf('tmp')), [])
  })
})
