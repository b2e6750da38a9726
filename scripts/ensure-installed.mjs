// Prepares a fresh clone: installs the packages of package-lock.json and the Node version that the project is pinned to. With
// `--serving` only the packages that serving needs, without the tools of tests and checks, which a later run adds.
// Runs before `npm start`, `npm test` and similar scripts, on any Node from version 20, so it must work without dependencies
// and without TypeScript. If everything is installed, it does nothing and prints nothing.
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withInstallLock } from './install/lock.mjs'
import { npm } from './install/npm.mjs'
import { removeUnused } from './install/remove-unused.mjs'
import { repairRuntime, runtimeProblem } from './install/runtime.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')

const isServing = process.argv.includes('--serving')

const log = (line) => process.stderr.write(`gatehouse: ${line}\n`)

try {
  if (!isInstalled(isServing) || runtimeProblem(root) !== undefined) await withInstallLock(root, log, prepare)
} catch (error) {
  log(error.message)
  process.exitCode = 1
}

async function prepare(owners) {
  const project = { root, owners, log }
  if (!isInstalled(isServing)) {
    log(`installing dependencies with ${commandOf()}; this happens once, and again when package-lock.json changes`)
    const dev = isServing ? '--omit=dev' : '--include=dev' // also with NODE_ENV=production
    await npm(project, [
      ...commandOf().split(' ').slice(1),
      dev,
      '--install-strategy=hoisted',
      '--no-audit',
      '--no-fund',
    ])
  }
  await repairRuntime(project)
  removeUnused(root)
}

/** `npm ci` empties node_modules, also under a server that runs. If what serving needs is installed, the rest is added to it. */
function commandOf() {
  return !isServing && isInstalled(true) ? 'npm install --no-save' : 'npm ci'
}

/**
 * npm writes node_modules/.package-lock.json as its last step. If that file agrees with package-lock.json, the installation is
 * complete, also one made by hand with `npm install`. After an interrupted installation it is missing or old.
 */
function isInstalled(isForServing) {
  const required = packagesOf('package-lock.json')
  const present = packagesOf('node_modules/.package-lock.json')
  return Object.entries(required).every(([path, { version, optional, devOptional, dev }]) => {
    if (path === '') return true // the project itself
    if (isForServing && (dev || devOptional)) return true
    return present[path] === undefined ? optional === true : present[path].version === version
  })
}

function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(join(root, lockFile), 'utf8')).packages ?? {}
  } catch {
    return {}
  }
}
