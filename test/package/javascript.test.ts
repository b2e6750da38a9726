import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { checkReferences, toJavaScript } from '../../scripts/pack/javascript.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

describe('a module in the npm package', () => {
  it('keeps the lines and columns of its source, and refers to JavaScript', () => {
    const source = `import type { A } from './a.ts'
import { b } from '../b.ts'
const load = () => import('./c.ts')
const worker: URL = new URL('worker.ts', import.meta.url), position = 1
`
    const lines = toJavaScript(source).split('\n')
    assert.equal(lines[0]?.trim(), '')
    assert.deepEqual(lines.slice(1, 3), ["import { b } from '../b.js'", "const load = () => import('./c.js')"])
    assert.equal(lines[3], "const worker      = new URL('worker.js', import.meta.url), position = 1")
    assert.equal(lines[3]?.indexOf('position'), source.split('\n')[3]?.indexOf('position'))
  })

  for (const [code, problem] of [
    ['new URL(`./${name}.ts`, import.meta.url)', /main\.js refers to .*\.ts$/],
    ['import("./b.ts")', /main\.js refers to .*b\.ts$/],
    ["import { c } from './c.js'", /main\.js refers to \.\/c\.js, which the package does not contain$/],
  ] as const) {
    it(`is rejected if it cannot find what it refers to: ${code}`, async () => {
      await using folder = await temporaryFolder()
      mkdirSync(join(folder.path, 'dist'))
      writeFileSync(join(folder.path, 'dist/main.js'), `// As in \`main.ts\`.\n${code}\n`)
      assert.throws(() => checkReferences(folder.path), { message: problem })
    })
  }
})
