import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { openToAppend, readRegularFile, writeRegularFile } from './regular-file.ts'

describe('a file that a user names', () => {
  it('is read through a link, but not from a pipe or a folder', async () => {
    await using folder = await temporaryFolder()
    const at = (name: string) => join(folder.path, name)
    writeFileSync(at('plain'), 'text')
    symlinkSync(at('plain'), at('link'))
    execFileSync('mkfifo', [at('pipe')])
    mkdirSync(at('folder'))
    assert.equal(readRegularFile(at('plain')), 'text')
    assert.equal(readRegularFile(at('link')), 'text')
    assert.throws(() => readRegularFile(at('pipe')), /pipe is not a regular file\. Name a regular file\./)
    assert.throws(() => readRegularFile(at('folder')), /folder is a folder\. Name a regular file\./)
  })

  it('is written only if it is a regular file or new', async () => {
    await using folder = await temporaryFolder()
    const at = (name: string) => join(folder.path, name)
    writeFileSync(at('target'), 'precious')
    symlinkSync(at('target'), at('link'))
    symlinkSync(at('nowhere'), at('dangling'))
    execFileSync('mkfifo', [at('pipe')])
    for (const name of ['link', 'dangling'])
      assert.throws(() => writeRegularFile(at(name), 'x'), /is a symbolic link\. Name a regular file\./)
    assert.throws(() => writeRegularFile(at('pipe'), 'x'), /is a pipe or a socket/)
    assert.throws(() => openToAppend(at('pipe')), /is a pipe or a socket/)
    assert.equal(readFileSync(at('target'), 'utf8'), 'precious')
    writeRegularFile(at('target'), 'x')
    writeRegularFile(at('new'), 'y')
    assert.deepEqual([readFileSync(at('target'), 'utf8'), readFileSync(at('new'), 'utf8')], ['x', 'y'])
  })
})
