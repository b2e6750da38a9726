import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readConfig } from '../config/config.ts'
import { fileValuesOf } from '../config/file-values.ts'
import { createLiveValues } from './live-values.ts'

const field = 'upstreams[0].api_key'

/** A secret as Kubernetes mounts it: the file links into a folder that is itself a link, and that link is swapped. */
function createScene() {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-live-'))
  const at = (name: string): string => join(folder, name)
  let made = 0
  const swap = (text: string | undefined): void => {
    const version = `..version-${(made += 1)}`
    mkdirSync(at(version))
    if (text !== undefined) writeFileSync(join(at(version), 'key'), text)
    symlinkSync(version, at('..data-next'))
    renameSync(at('..data-next'), at('..data'))
  }
  swap('first\n')
  symlinkSync(join('..data', 'key'), at('key'))
  writeFileSync(at('gatehouse.yaml'), 'upstreams: [{ name: a, kind: echo, api_key: "${file:key}" }]')
  const logged: string[] = []
  const files = fileValuesOf(readConfig({ GATEHOUSE_CONFIG: at('gatehouse.yaml') }))
  const live = createLiveValues(files, {
    warn: (message) => logged.push(`warn ${message}`),
    info: (message) => logged.push(`info ${message}`),
  })
  return { live, swap, logged, path: at('key') }
}

describe('a configuration value that comes from a file', () => {
  it('follows the file, even if a link above it is swapped', async () => {
    const { live, swap, logged } = createScene()
    assert.equal(live.read(field, 'configured'), 'first')
    const version = live.version()
    swap('second\n')
    await live.reload()
    assert.deepEqual([live.read(field, 'configured'), live.version()], ['second', version + 1])
    await live.reload()
    assert.equal(live.version(), version + 1)
    assert.deepEqual(logged, [`info ${field}: its file changed, and the new value is used from now on`])
    assert.deepEqual(live.texts(), ['first', 'second'])
  })

  it('keeps its value while the file is missing or empty, and one warning is logged', async () => {
    const { live, swap, logged, path } = createScene()
    for (const broken of [undefined, '\n']) {
      swap(broken)
      await live.reload()
      await live.reload()
      assert.equal(live.read(field, 'configured'), 'first')
    }
    swap('third')
    await live.reload()
    assert.equal(live.read(field, 'configured'), 'third')
    assert.deepEqual(logged, [
      `warn ${field}: the file ${path} cannot be read (ENOENT); the previous value is kept`,
      `warn ${field}: the file ${path} is empty; the previous value is kept`,
      `info ${field}: its file can be read again`,
      `info ${field}: its file changed, and the new value is used from now on`,
    ])
  })

  it('leaves every other field as it is configured', () => {
    const { live } = createScene()
    assert.equal(live.read('upstreams[1].api_key', 'configured'), 'configured')
  })
})
