import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { systemClock } from '../../base/clock.ts'
import { createIds } from '../../base/ids.ts'
import { systemRandom } from '../../base/random.ts'
import { manifestNameOf, nameOf } from '../../domain/audit/archive/archived-object.ts'
import { folderArchive } from './folder.ts'

const ids = createIds(systemClock, systemRandom)
const range = { first: 1, last: 2, day: '2026-01-31' }

describe('the folder of an archive', () => {
  it('keeps the first content of an object if it is written again', async () => {
    await using folder = await temporaryFolder()
    const target = folderArchive(folder.path, ids)
    const results = await Promise.all(['one', 'two', 'three'].map((text) => target.create('a/b', Buffer.from(text))))
    assert.equal(results.filter((result) => result === 'created').length, 1)
    const content = await target.read('a/b')
    assert.equal(await target.create('a/b', Buffer.from('four')), 'exists')
    assert.deepEqual(await target.read('a/b'), content)
    assert.deepEqual(await readdir(join(folder.path, 'a')), ['b'])
  })

  it('rejects names that lead out of the folder', async () => {
    await using folder = await temporaryFolder()
    const archive = join(folder.path, 'archive')
    await mkdir(archive)
    const target = folderArchive(archive, ids)
    for (const name of ['../outside', 'a/../../outside', '/etc/outside', 'a//b', '', '..', 'a\0b', 'a/..'])
      await assert.rejects(target.create(name, Buffer.from('x')), /is not a name of an archived object/, name)
    assert.deepEqual(await readdir(folder.path), ['archive'])
  })

  it('keeps the objects of an organization with a hostile id in one folder of their own', async () => {
    await using folder = await temporaryFolder()
    const target = folderArchive(folder.path, ids)
    for (const organizationId of ['../../etc', '..', '.', 'a/b', '.hidden', 'a\0b', '*'])
      assert.equal(await target.create(nameOf({ ...range, organizationId }), Buffer.from(organizationId)), 'created')
    const names = (await readdir(folder.path)).sort()
    assert.deepEqual(names, ['%2A', '%2E', '%2E%2E', '%2E%2E%2F%2E%2E%2Fetc', '%2Ehidden', 'a%00b', 'a%2Fb'])
  })

  it('does not create the folder itself, because it may be a disk that is not mounted', async () => {
    await using folder = await temporaryFolder()
    await rm(folder.path, { recursive: true })
    await assert.rejects(folderArchive(folder.path, ids).create('a', Buffer.from('x')), /there is no folder/)
    await writeFile(folder.path, 'a file')
    await assert.rejects(folderArchive(folder.path, ids).create('a', Buffer.from('x')), /there is no folder/)
    assert.equal(await readFile(folder.path, 'utf8'), 'a file')
  })
})

describe('names of archived objects', () => {
  it('have the organization, the day and the sequences, and sort by them', () => {
    const name = nameOf({ ...range, organizationId: 'org_1', last: 4_711 })
    assert.equal(name, 'org_1/2026/01/31/000000000001-000000004711.ndjson.zst')
    assert.equal(manifestNameOf(name), 'org_1/2026/01/31/000000000001-000000004711.manifest.json')
  })
})
