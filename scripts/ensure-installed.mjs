// Makes a fresh clone ready: installs what package-lock.json asks for, and the Node that the project is pinned to.
// Runs before `npm start`, `npm test` and the like, on whatever Node (from 20) the machine has, so it must work
// without dependencies and without TypeScript. Where everything is in place it only looks and says nothing.
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withInstallLock } from './install/lock.mjs'
import { npm } from './install/npm.mjs'
import { mendRuntime, runtimeProblem } from './install/runtime.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')

const say = (line) => process.stderr.write(`gatehouse: ${line}\n`)

try {
  if (!isInstalled() || runtimeProblem(root) !== undefined) await withInstallLock(root, say, prepare)
} catch (error) {
  say(error.message)
  process.exitCode = 1
}

async function prepare(owners) {
  const project = { root, owners, say }
  if (!isInstalled()) {
    say('installing dependencies with npm ci; this happens once, and again when package-lock.json changes')
    // The pinned Node is a development dependency, so these are wanted with NODE_ENV=production too.
    await npm(project, ['ci', '--include=dev', '--install-strategy=hoisted', '--no-audit', '--no-fund'])
  }
  await mendRuntime(project)
}

/**
 * npm writes its own record of the tree as the very last step, so a record that agrees with the lock file means a
 * complete installation, also one made by hand with `npm install`. An interrupted one has none, or an old one.
 */
function isInstalled() {
  const wanted = packagesOf('package-lock.json')
  const present = packagesOf('node_modules/.package-lock.json')
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === '') return true // the project itself
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
