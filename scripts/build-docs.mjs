// Builds the pages of `/docs` if the guides, their renderer or the sources of the gateway changed since the last build: the reference
// describes the routes. Runs before `npm start` and `npm test`, after `ensure-installed.mjs`. With `--strict` a build that fails ends
// this script with 1.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { buildIfChanged, filesWithin } from './built-folder.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const target = join(root, 'docs/dist')

await buildIfChanged({ root, target, name: 'the documentation', sources: sourceFiles(), build })

/**
 * The renderer is TypeScript, and the Node of this script may be too old for that. The V8 options and the compile cache are those of
 * `npm start`, which then need not compile the same sources again.
 */
async function build(folder) {
  const pinned = join(root, 'node_modules/.bin/node')
  const node = existsSync(pinned) ? pinned : process.execPath
  const options = ['--max-semi-space-size=32', '--no-allocation-site-pretenuring']
  const args = [...options, '--disable-warning=ExperimentalWarning', join(root, 'scripts/docs/build.ts'), folder]
  const env = { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'), ...process.env }
  try {
    await promisify(execFile)(node, args, { cwd: root, env })
  } catch (error) {
    throw new Error(error.stderr?.trim() || error.message, { cause: error })
  }
}

/** The guides, the renderer, the gateway and the versions of the packages. */
function sourceFiles() {
  const pages = ['docs', 'docs/api', 'docs/guide'].map((folder) => join(root, folder))
  return [
    ...pages.flatMap((folder) => filesWithin(folder, (name) => name.endsWith('.md'))),
    ...filesWithin(join(root, 'scripts/docs'), (name) => !name.endsWith('.test.ts')),
    ...filesWithin(join(root, 'src'), (name) => /^[^.]+$|\.ts$/.test(name) && !name.endsWith('.test.ts')),
    join(root, 'package-lock.json'),
    fileURLToPath(import.meta.url),
  ]
}
