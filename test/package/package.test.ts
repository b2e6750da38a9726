import assert from 'node:assert/strict'
import { existsSync, globSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import projectFile from '../../package.json' with { type: 'json' }
import { createEncoderPackage, createPackage, type Package } from '../../scripts/pack/package.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { installPackage, type InstalledPackage } from './installed-package.ts'

describe('the npm package', { timeout: 600_000 }, () => {
  const opened = new AsyncDisposableStack()
  let packed: Package
  let installed: InstalledPackage
  const targetFolder = async (): Promise<string> => opened.use(await temporaryFolder()).path
  before(async () => {
    packed = await createPackage(await targetFolder())
    installed = opened.use(await installPackage(packed.tarball))
  })
  after(() => opened.disposeAsync())

  const root = (): string => join(installed.modules, 'gatehouse-gateway')
  const manifest = () => JSON.parse(readFileSync(join(root(), 'package.json'), 'utf8'))

  it('contains JavaScript, the console, the documentation, the migrations and the licence, and no source, test or picture', () => {
    const files = globSync('**/*', { cwd: root() })
    const built = ['dist/main.js', 'console/dist/stamp.json', 'docs/dist/stamp.json', 'docs/dist/pages/operating.html']
    for (const file of ['LICENSE', 'NOTICE', 'README.md', 'CHANGELOG.md', ...built])
      assert.ok(files.includes(file), file)
    const migrations = (folder: string): string[] => readdirSync(join(folder, 'migrations')).sort()
    assert.deepEqual(migrations(root()), migrations('.'))
    const unwanted = files.filter((file) =>
      /\.tsx?$|\.test\.|\.png$|\/fixtures$|\/cases\/.*\.json$|package-lock/.test(file),
    )
    assert.deepEqual(unwanted, [])
    assert.doesNotMatch(readFileSync(join(root(), 'README.md'), 'utf8'), /^!\[/m)
  })

  it('names exact versions of the dependencies, and has no script, development dependency or Node of its own', () => {
    const { dependencies, engines, name, version, ...rest } = manifest()
    assert.deepEqual([name, version, engines.node], ['gatehouse-gateway', projectFile.version, '>=24.15'])
    assert.deepEqual(Object.keys(dependencies), Object.keys(projectFile.dependencies))
    for (const each of Object.values(dependencies)) assert.match(String(each), /^\d+\.\d+\.\d+$/)
    const fields = ['bin', 'description', 'files', 'license', 'peerDependencies', 'peerDependenciesMeta', 'type']
    assert.deepEqual(Object.keys(rest).sort(), fields)
  })

  it('installs without the moderation encoder, which is an optional peer', () => {
    const { peerDependencies, peerDependenciesMeta } = manifest()
    const name = 'gatehouse-moderation-encoder'
    assert.deepEqual([Object.keys(peerDependencies), peerDependenciesMeta], [[name], { [name]: { optional: true } }])
    const unwanted = readdirSync(installed.modules).filter((each) => each === name || each.startsWith('onnxruntime'))
    assert.deepEqual(unwanted, [])
  })

  it('is the same to the byte if the same tree is packed again', async () => {
    const again = await createPackage(await targetFolder())
    assert.ok(readFileSync(again.tarball).equals(readFileSync(packed.tarball)))
  })

  it('prints its version, and without arguments how to start', async () => {
    assert.equal((await installed.npx('--version')).stdout.trim(), projectFile.version)
    const { stdout } = await installed.npx()
    assert.match(stdout, /gatehouse serve$/m)
    // With a file, because the name in the public registry may belong to others.
    for (const [, program = ''] of stdout.matchAll(/npx (\S+)/g)) assert.match(program, /^\.\/.*\.tgz$/)
  })

  it('serves with npx, with its data in ./data: an answer, the console and the guides', async () => {
    using server = await installed.serveWithNpx()
    assert.match(server.output, /"storage":"embedded","data_dir":"\.\/data"/)
    const response = await fetch(`${server.url}/v1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gatehouse-echo', max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] }),
    })
    assert.equal(response.status, 200)
    assert.match(await response.text(), /Hello/)
    await assertConsole(server.url)
    for (const path of ['/docs', '/docs/guide/operating', '/docs/assets/style.css', '/docs/assets/search.json'])
      assert.equal((await fetch(server.url + path)).status, 200, path)
    assert.equal((await installed.npx('health', '--url', server.url)).stdout.trim(), 'ready')
    assert.match((await installed.npx('doctor', '--offline')).stdout, /✓ data folder/)
    assert.match(await server.stop(), /Stopping/)
    assert.equal(existsSync(join(installed.app, 'data/control.sock')), false)
  })

  it('writes to its data folder only, and so works in a read-only node_modules', async () => {
    const written = () => [installed.app, installed.home, installed.temporary].map((folder) => readdirSync(folder))
    for (const name of readdirSync(installed.temporary)) rmSync(join(installed.temporary, name), { recursive: true })
    const [app = [], ...others] = written()
    using server = await installed.serve('--data-dir', 'elsewhere')
    assert.equal((await fetch(`${server.url}/health/ready`)).status, 200)
    assert.match(await server.stop(), /Stopping/)
    assert.deepEqual(written(), [[...app, 'elsewhere'].sort(), ...others])
  })
})

if (existsSync('packages/moderation-encoder/model.onnx')) {
  describe('the npm package of the moderation encoder', () => {
    it('contains the model, its vocabulary and its licences, and names its run time as optional', async (test) => {
      const target = await temporaryFolder()
      test.after(() => target[Symbol.asyncDispose]())
      const encoder = await createEncoderPackage(target.path)
      assert.ok(encoder)
      const files = readdirSync(encoder.folder)
      for (const file of [
        'LICENSE',
        'NOTICE',
        'encoder.json',
        'index.d.ts',
        'index.js',
        'model.onnx',
        'vocabulary.txt',
      ])
        assert.ok(files.includes(file), file)
      assert.equal(encoder.files, files.length - 1) // npm leaves out the lock file
      const { packages } = JSON.parse(readFileSync(join(encoder.folder, 'package-lock.json'), 'utf8'))
      const { dependencies, optionalDependencies } = packages['']
      assert.equal(dependencies, undefined)
      assert.equal(packages['node_modules/onnxruntime-node'].version, optionalDependencies['onnxruntime-node'])
    })
  })
}

/** The page of the console, and every file that it names. */
async function assertConsole(url: string): Promise<void> {
  const page = await fetch(`${url}/console/`)
  assert.equal(page.status, 200)
  const assets = [...(await page.text()).matchAll(/(?:src|href)="([^"]*assets\/[^"]+)"/g)].map(([, path = '']) => path)
  assert.ok(assets.some((path) => path.endsWith('.js')) && assets.some((path) => path.endsWith('.css')), String(assets))
  for (const path of assets) assert.equal((await fetch(new URL(path, `${url}/console/`))).status, 200, path)
}
