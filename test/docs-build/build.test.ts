import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, describe, it } from 'node:test'

const root = resolve(import.meta.dirname, '../..')

/** A checkout with one guide, and a renderer of a few lines that counts its runs. */
const checkout = mkdtempSync(join(tmpdir(), 'gatehouse-build-'))
const write = (path: string, content: string): void => writeFileSync(join(checkout, path), content)
for (const folder of ['scripts/docs', 'src/http', 'docs/api', 'docs/guide'])
  mkdirSync(join(checkout, folder), { recursive: true })
for (const file of ['scripts/build-docs.mjs', 'scripts/built-folder.mjs'])
  cpSync(join(root, file), join(checkout, file))
symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
write('package-lock.json', '{}')
write('docs/guide/policies.md', '# Policies')
write('src/http/routes.ts', "export const routes = ['GET /docs']")
const renderer = `import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
const [folder = ''] = process.argv.slice(2)
appendFileSync('runs.txt', '.')
const guide: string = readFileSync('docs/guide/policies.md', 'utf8')
if (guide.includes('broken')) throw new Error('the guide is broken')
mkdirSync(folder)
writeFileSync(folder + '/policies.html', guide)
`
write('scripts/docs/build.ts', renderer)

/** Ends with the exit status. */
async function build(...options: readonly string[]): Promise<unknown> {
  const script = join(checkout, 'scripts/build-docs.mjs')
  const [status] = await once(spawn(process.execPath, [script, ...options], { stdio: 'ignore' }), 'exit')
  return status
}

const read = (path: string): string => readFileSync(join(checkout, path), 'utf8')
const runs = (): number => read('runs.txt').length
const leftOver = () => readdirSync(join(checkout, 'docs')).filter((name) => name.startsWith('dist-'))

describe('the build of the documentation', () => {
  after(() => rmSync(checkout, { recursive: true }))

  it('can run several times at once in one checkout', async () => {
    assert.deepEqual(await Promise.all([build(), build(), build()]), [0, 0, 0])
    assert.equal(read('docs/dist/policies.html'), '# Policies')
    assert.deepEqual(leftOver(), [])
  })

  it('does nothing if nothing changed, and not for a test or its own files', async () => {
    const before = runs()
    write('src/http/routes.test.ts', '')
    write('docs/dist/note.md', '')
    assert.equal(await build(), 0)
    assert.equal(runs(), before)
    assert.ok(existsSync(join(checkout, 'docs/dist/note.md')))
  })

  it('runs again if a guide, the renderer, a source of the gateway or a package changed, and replaces all files', async () => {
    const changes = {
      'docs/guide/policies.md': '# All policies',
      'scripts/docs/build.ts': `${renderer}// changed`,
      'src/http/routes.ts': 'export const routes = []',
      'package-lock.json': '{ "packages": {} }',
    }
    for (const [path, content] of Object.entries(changes)) {
      const before = runs()
      write('docs/dist/earlier.html', '')
      write(path, content)
      assert.equal(await build(), 0)
      assert.equal(runs(), before + 1, path)
      assert.deepEqual(readdirSync(join(checkout, 'docs/dist')).toSorted(), ['policies.html', 'stamp.json'])
    }
    assert.equal(read('docs/dist/policies.html'), '# All policies')
    assert.deepEqual(leftOver(), [])
  })

  it('leaves the reason of its failure and no pages, and fails itself only with --strict', async () => {
    write('docs/guide/policies.md', 'broken')
    assert.equal(await build(), 0)
    assert.equal(await build('--strict'), 1)
    assert.deepEqual(readdirSync(join(checkout, 'docs/dist')), ['problem.txt'])
    assert.match(read('docs/dist/problem.txt'), /the guide is broken/)
    assert.deepEqual(leftOver(), [])
  })
})
