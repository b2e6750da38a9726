import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { dockerRunIn } from '../../scripts/image/guide.ts'
import { findProgram } from '../../scripts/test/binaries.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { execForm, instructionsOf, readDockerfile } from './image-dockerfile.ts'

const guide = readFileSync('docs/guide/deploy.md', 'utf8')
const unit = readFileSync('deploy/systemd/gatehouse.service', 'utf8')
const image = readDockerfile('deploy/Dockerfile').stages.at(-1)
const nginx = process.getuid?.() === 0 ? findProgram('nginx') : undefined // it creates folders in /var/lib
const blocksOf = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, block = '']) => block)

describe('the guide to deployment', () => {
  it('names the folders and files of the unit', () => {
    const [, installFolder = ''] = /npm install --prefix (\S+)/.exec(guide) ?? []
    assert.ok(unit.includes(` ${installFolder}/node_modules/`))
    for (const path of ['/etc/gatehouse/environment', '/var/lib/gatehouse/first-keys.json', '/var/lib/gatehouse'])
      assert.ok(unit.includes(path) && guide.includes(path), path)
    const [, secret = ''] = /LoadCredential=(\w+):/.exec(guide) ?? []
    assert.ok(guide.includes(`\${file:/run/credentials/gatehouse.service/${secret}}`))
  })

  it('runs the image with a read-only root, no capabilities, its volume and its port', () => {
    const words = dockerRunIn(guide)
    const valueOf = (option: string): string => words[words.indexOf(option) + 1] ?? ''
    assert.ok(words.includes('--read-only'))
    assert.deepEqual(['--tmpfs', '--cap-drop', '--security-opt'].map(valueOf), ['/tmp', 'ALL', 'no-new-privileges'])
    const [volume] = execForm(instructionsOf(image, 'VOLUME')[0]?.text ?? '') ?? []
    assert.equal(valueOf('--volume').split(':')[1], volume)
    assert.equal(valueOf('--publish').split(':').at(-1), instructionsOf(image, 'EXPOSE')[0]?.text)
    assert.equal(valueOf('--stop-timeout'), /^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])
  })

  it('names the folder of the configuration file in the image', () => {
    assert.ok(guide.includes(`:${instructionsOf(image, 'WORKDIR')[0]?.text}/gatehouse.yaml:ro`))
  })

  if (nginx !== undefined)
    it('has a configuration that nginx accepts', async () => {
      await using folder = await temporaryFolder()
      const [server = ''] = blocksOf('nginx')
      // Without a certificate, and on a socket, so that the test needs no port.
      const plain = server.replaceAll(/^ *ssl_.*\n/gm, '').replace('443 ssl', `unix:${join(folder.path, 'socket')}`)
      const file = join(folder.path, 'nginx.conf')
      writeFileSync(file, `pid ${join(folder.path, 'pid')};\nevents {}\nhttp {\naccess_log off;\n${plain}}\n`)
      execFileSync(nginx, ['-t', '-q', '-e', 'stderr', '-c', file], { stdio: 'pipe' })
    })
})
