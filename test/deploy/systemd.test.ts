import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import lockFile from '../../package-lock.json' with { type: 'json' }
import projectFile from '../../package.json' with { type: 'json' }
import { findProgram } from '../../scripts/test/binaries.ts'
import { createManifests } from '../../scripts/pack/manifest.ts'

const file = 'deploy/systemd/gatehouse.service'
const unit = readFileSync(file, 'utf8')
const settings = [...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => ({ name, value }))
const valuesOf = (name: string): string[] => settings.filter((each) => each.name === name).map(({ value }) => value)
const analyzer = findProgram('systemd-analyze')

describe('the systemd unit', () => {
  it('starts the installed package with the Node options of npm start', () => {
    const { manifest } = createManifests(projectFile, lockFile)
    const program = `/opt/gatehouse/node_modules/${manifest.name}/${manifest.bin.gatehouse}`
    const start = projectFile.scripts.start
      .replace('exec ', '/usr/bin/env ')
      .replace(projectFile.bin.gatehouse, program)
    assert.deepEqual(valuesOf('ExecStart'), [start])
  })

  it('runs as a user of its own that can write to the data folder only', () => {
    assert.deepEqual([valuesOf('User'), valuesOf('Group')], [['gatehouse'], ['gatehouse']])
    assert.deepEqual([valuesOf('StateDirectory'), valuesOf('StateDirectoryMode')], [['gatehouse'], ['0700']])
    assert.deepEqual(valuesOf('ReadWritePaths'), [])
    for (const folder of valuesOf('Environment').map((variable) => variable.split('=')[1]))
      assert.match(folder ?? '', /^\/var\/lib\/gatehouse(?:\/|$)/)
    for (const name of ['NoNewPrivileges', 'PrivateTmp', 'ProtectHome']) assert.deepEqual(valuesOf(name), ['yes'], name)
    assert.deepEqual([valuesOf('ProtectSystem'), valuesOf('CapabilityBoundingSet')], [['strict'], ['']])
  })

  it('lets answers in progress end before it kills the server, and restarts a server that failed', () => {
    const [, drainMs = ''] = /drainTimeoutMs = ([\d_]+)/.exec(readFileSync('src/http/shutdown.ts', 'utf8')) ?? []
    const neededSeconds = Number(drainMs.replaceAll('_', '')) / 1000 + 10
    assert.ok(Number(valuesOf('TimeoutStopSec')[0]) > neededSeconds)
    assert.deepEqual([valuesOf('KillSignal'), valuesOf('Restart')], [['SIGTERM'], ['on-failure']])
  })

  it('contains no secret', () => {
    for (const variable of valuesOf('Environment')) assert.match(variable, /^GATEHOUSE_(?:DATA_DIR|KEYS_FILE)=/)
  })

  if (analyzer !== undefined)
    it('is valid for systemd', () => {
      const { stderr } = spawnSync(analyzer, ['verify', file], { encoding: 'utf8' })
      const problems = stderr.split('\n').filter((line) => line.includes('gatehouse.service'))
      assert.deepEqual(problems, [])
    })
})
