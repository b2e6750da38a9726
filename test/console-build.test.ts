import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { readConsoleFiles } from '../src/http/console/files.ts'

const root = resolve(import.meta.dirname, '..')

/** A checkout with a console of one line, which is built in a moment. */
const checkout = mkdtempSync(join(tmpdir(), 'gatehouse-build-'))
const write = (path: string, content: string): void => writeFileSync(join(checkout, path), content)
mkdirSync(join(checkout, 'scripts'))
mkdirSync(join(checkout, 'console'))
for (const file of ['scripts/build-console.mjs', 'scripts/built-folder.mjs'])
  cpSync(join(root, file), join(checkout, file))
symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
write('package-lock.json', '{}')
write('console/index.html', '<!doctype html><script type="module" src="./main.js"></script>')
write('console/vite.config.ts', "export default { base: './', build: { manifest: 'manifest.json' } }")

/** Ends with the exit status. */
async function build(): Promise<unknown> {
  const script = join(checkout, 'scripts/build-console.mjs')
  const [status] = await once(spawn(process.execPath, [script, '--strict'], { stdio: 'ignore' }), 'exit')
  return status
}

const built = () => readConsoleFiles(pathToFileURL(join(checkout, 'console/dist/')))
const leftOver = () => readdirSync(join(checkout, 'console')).filter((name) => name.startsWith('dist-'))

describe('the build of the console', () => {
  after(() => rmSync(checkout, { recursive: true }))

  it('can run several times at once in one checkout', async () => {
    write('console/main.js', 'document.title = "first"')
    assert.deepEqual(await Promise.all([build(), build(), build()]), [0, 0, 0])
    assert.ok('assets' in built())
    assert.deepEqual(leftOver(), [])
  })

  it('replaces the earlier build as a whole', async () => {
    const before = built()
    write('console/main.js', 'document.title = "second"')
    assert.equal(await build(), 0)
    const next = built()
    assert.ok('assets' in before && 'assets' in next)
    assert.equal(next.assets.size, 1)
    assert.notDeepEqual([...next.assets.keys()], [...before.assets.keys()])
    assert.deepEqual(leftOver(), [])
  })

  it('leaves the reason of its failure and no files', async () => {
    write('console/main.js', 'import "./missing.js"')
    assert.equal(await build(), 1)
    const failed = built()
    assert.ok('problem' in failed)
    assert.match(failed.problem, /missing\.js/)
    assert.ok(!existsSync(join(checkout, 'console/dist/index.html')))
    assert.deepEqual(leftOver(), [])
  })
})
