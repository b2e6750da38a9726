import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import lockFile from '../../package-lock.json' with { type: 'json' }
import projectFile from '../../package.json' with { type: 'json' }
import { createManifests } from '../../scripts/pack/manifest.ts'
import { prepareRelease, writeBillOfMaterials } from '../../scripts/release/release.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const now = new Date('2027-02-03T04:05:06Z')
const chart = 'deploy/helm/gatehouse/Chart.yaml'
const changelog = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2027-01-01\n'

/** A small project of version 0.1.0 in a repository of its own. */
async function openProject(test: TestContext, changes = changelog) {
  const folder = await temporaryFolder()
  test.after(() => folder[Symbol.asyncDispose]())
  const root = folder.path
  const lock = { version: '0.1.0', packages: { '': { version: '0.1.0' }, 'node_modules/a': { version: '0.1.0' } } }
  const files = { 'package.json': { version: '0.1.0' }, 'package-lock.json': lock }
  for (const [name, value] of Object.entries(files)) writeFileSync(join(root, name), JSON.stringify(value, null, 2))
  writeFileSync(join(root, 'CHANGELOG.md'), changes)
  mkdirSync(join(root, dirname(chart)), { recursive: true })
  writeFileSync(join(root, chart), 'apiVersion: v2\nversion: 0.1.0\nappVersion: 0.1.0\nkubeVersion: ">=1.27"\n')
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
  git('init', '--quiet')
  git('config', 'user.name', 'Test')
  git('config', 'user.email', 'test@example.com')
  git('add', '.')
  git('commit', '--quiet', '--message', 'start')
  return { root, git, read: (name: string) => readFileSync(join(root, name), 'utf8') }
}

describe('a release', () => {
  it('writes the version and the date, commits and tags', async (test) => {
    const { root, git, read } = await openProject(test)
    await prepareRelease(root, '0.2.0', now)
    assert.equal(JSON.parse(read('package.json')).version, '0.2.0')
    const lock = JSON.parse(read('package-lock.json'))
    assert.deepEqual([lock.version, lock.packages[''].version], ['0.2.0', '0.2.0'])
    assert.equal(lock.packages['node_modules/a'].version, '0.1.0')
    assert.equal(read(chart), 'apiVersion: v2\nversion: 0.2.0\nappVersion: 0.2.0\nkubeVersion: ">=1.27"\n')
    assert.match(read('CHANGELOG.md'), /## \[Unreleased\]\n\n## \[0\.2\.0\] - 2027-02-03\n\n### Added\n\n- A thing\./)
    assert.equal(git('status', '--porcelain'), '')
    assert.equal(git('log', '-1', '--format=%s'), 'release: version 0.2.0')
    assert.equal(git('rev-parse', 'v0.2.0^{commit}'), git('rev-parse', 'HEAD'))
  })

  for (const [what, version, prepare, expected] of [
    ['a changed file', '0.2.0', (root: string) => writeFileSync(join(root, 'new'), ''), /working tree has changes/],
    ['a version that is not higher', '0.1.0', () => {}, /0\.1\.0 is not higher/],
    ['a version that is no version', 'v2', () => {}, /npm run release -- X\.Y\.Z/],
    [
      'a tag of the version',
      '0.2.0',
      (root: string) => execFileSync('git', ['tag', 'v0.2.0'], { cwd: root }),
      /tag v0\.2\.0 exists/,
    ],
  ] as const) {
    it(`is not made with ${what}`, async (test) => {
      const { root, git, read } = await openProject(test)
      prepare(root)
      await assert.rejects(prepareRelease(root, version, now), { message: expected })
      assert.equal(git('log', '--format=%s'), 'start')
      assert.equal(read('CHANGELOG.md'), changelog)
    })
  }

  it('is not made without an entry in the changelog', async (test) => {
    const { root } = await openProject(test, changelog.replace('- A thing.', ''))
    await assert.rejects(prepareRelease(root, '0.2.0', now), { message: /no entry/ })
  })

  it('has a bill of materials with every package of an installation, and no development dependency', async (test) => {
    const folder = await temporaryFolder()
    test.after(() => folder[Symbol.asyncDispose]())
    const root = join(folder.path, 'gatehouse-gateway')
    mkdirSync(root)
    const { manifest, lock } = createManifests(projectFile, lockFile)
    writeFileSync(join(root, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(root, 'package-lock.json'), JSON.stringify(lock))
    const path = await writeBillOfMaterials(root, join(folder.path, 'bill.cdx.json'))
    const bill = JSON.parse(readFileSync(path, 'utf8'))
    assert.equal(bill.bomFormat, 'CycloneDX')
    assert.equal(bill.metadata.component.name, 'gatehouse-gateway')
    const names = new Set(bill.components.map(({ name }: { name: string }) => name))
    for (const name of ['fastify', 'pg', 'undici']) assert.ok(names.has(name), name)
    for (const name of ['typescript', 'node', 'react', 'onnxruntime-node']) assert.ok(!names.has(name), name)
  })
})
