import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'

describe('the Node options of npm start', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    scripts: { start: string }
  }
  const flags = scripts.start.split(' ').filter((word) => word.startsWith('--'))

  it('are known to this version of Node, also the options of V8, which come and go', () => {
    assert.ok(flags.length > 0)
    const { status, stderr } = spawnSync(process.execPath, [...flags, '--eval', '0'], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
  })
})
