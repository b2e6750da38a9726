import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readBackup } from '../../src/adapters/stores/sql/sqlite/backup.ts'
import { readResources } from '../../src/cli/as-code/files.ts'
import { startTestApp } from '../support/app.ts'
import { runCommandLine } from '../../src/cli/run.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const projects = (name: string): string => `projects:\n  - name: ${name}\n`

describe('a folder of resources', () => {
  it('may contain links to files and to other folders, as Kubernetes mounts them', async () => {
    await using folder = await temporaryFolder()
    const at = (name: string) => join(folder.path, name)
    for (const name of ['config', 'config/..data', 'elsewhere']) mkdirSync(at(name))
    writeFileSync(at('config/..data/projects.yaml'), projects('one'))
    symlinkSync(at('config/..data/projects.yaml'), at('config/projects.yaml'))
    writeFileSync(at('elsewhere/more.yaml'), projects('two'))
    symlinkSync(at('elsewhere'), at('config/more'))
    const found = readResources(at('config')).projects.map(({ value }) => value.name)
    assert.deepEqual(found, ['two', 'one'])
  })

  it('is rejected with the name of a link to a folder around it, and of a pipe', async () => {
    await using folder = await temporaryFolder()
    const at = (name: string) => join(folder.path, name)
    mkdirSync(at('config/deep'), { recursive: true })
    writeFileSync(at('config/projects.yaml'), projects('one'))
    symlinkSync(at('config'), at('config/deep/loop'))
    assert.throws(() => readResources(at('config')), /deep\/loop is a link to a folder that contains it/)
    execFileSync('rm', [at('config/deep/loop')])
    execFileSync('mkfifo', [at('config/pipe.yaml')])
    assert.throws(() => readResources(at('config')), /pipe\.yaml is not a regular file/)
    assert.throws(
      () => readBackup(at('config/pipe.yaml')),
      /is not a complete Gatehouse backup: it is not a regular file/,
    )
  })
})

it('an export writes through no link in its folder', async () => {
  await using folder = await temporaryFolder()
  await using app = await startTestApp()
  const at = (name: string) => join(folder.path, name)
  writeFileSync(at('precious'), 'precious')
  mkdirSync(at('out'))
  symlinkSync(at('precious'), at('out/projects.yaml'))
  const errors: string[] = []
  const code = await runCommandLine(['export', '-o', at('out')], {
    env: { GATEHOUSE_DATA_DIR: app.dataDir, GATEHOUSE_CONFIG: '/dev/null' },
    print: () => undefined,
    printError: (line) => errors.push(line),
    confirm: async () => false,
  })
  assert.equal(code, 1)
  assert.match(errors.join('\n'), /out\/projects\.yaml is a symbolic link\. Name a regular file\./)
  assert.equal(readFileSync(at('precious'), 'utf8'), 'precious')
})
