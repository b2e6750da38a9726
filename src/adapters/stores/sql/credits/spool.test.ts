import assert from 'node:assert/strict'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { chargeOf } from '../../../../../test/support/credits.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { createChargeSpool } from './spool.ts'

describe('the spool', () => {
  it('creates no file until it is needed', async () => {
    await using folder = await temporaryFolder()
    await using spool = createChargeSpool(join(folder.path, 'spool'))
    assert.equal(await spool.count(), 0)
    assert.equal(existsSync(join(folder.path, 'spool')), false)
  })

  it('returns items oldest first, also to the next process, until they are removed', async () => {
    await using folder = await temporaryFolder()
    const [early, late] = [chargeOf('req_1', 5, 'slice_1'), { ...chargeOf('req_2', 6, null), atMs: 1_760_000_000_001 }]
    {
      await using spool = createChargeSpool(folder.path)
      await spool.append([late])
      await spool.append([early])
      await spool.append([early])
    }
    await using spool = createChargeSpool(folder.path)
    assert.equal(await spool.count(), 2)
    assert.deepEqual(await spool.read(10), [early, late])
    assert.deepEqual(await spool.read(1), [early])
    await spool.remove([early, chargeOf('req_9', 1, null)])
    assert.deepEqual(await spool.read(10), [late])
  })

  it('keeps an item that is set aside, and returns it to the queue of the next process', async () => {
    await using folder = await temporaryFolder()
    const [bad, good] = [chargeOf('req_1', 5, 'slice_1'), chargeOf('req_2', 6, null)]
    {
      await using spool = createChargeSpool(folder.path)
      await spool.append([bad, good])
      await spool.setAside(bad)
      assert.deepEqual([await spool.read(10), await spool.count()], [[good], 1])
    }
    await using spool = createChargeSpool(folder.path)
    assert.deepEqual(await spool.read(10), [good])
    await spool.restoreSetAside()
    assert.deepEqual(await spool.read(10), [bad, good])
    await spool.restoreSetAside()
    assert.equal(await spool.count(), 2)
  })

  it('opens again after a failure, once the disk is writable', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'spool')
    writeFileSync(path, 'in the way')
    await using spool = createChargeSpool(path)
    await assert.rejects(spool.append([chargeOf('req_1', 5, null)]))
    rmSync(path)
    await spool.append([chargeOf('req_1', 5, null)])
    assert.equal(await spool.count(), 1)
  })
})
