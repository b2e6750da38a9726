// Makes a fresh clone ready: installs what package-lock.json asks for, and the Node that the project is pinned to.
// Runs before `npm start`, `npm test` and `npm run check`, on whatever Node (from 20) the machine has, so it must
// work without dependencies and without TypeScript. Where everything is in place it only looks and says nothing.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { withInstallLock } from './install-lock.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const modules = join(root, 'node_modules')
const runtime = join(modules, '.bin', 'node')

const say = (line) => process.stderr.write(`gatehouse: ${line}\n`)

if (!isReady()) {
  await withInstallLock(root, say, async (owners) => {
    if (!isInstalled()) await install(owners)
    if (!runtimeWorks()) await fetchRuntime(owners)
  })
}

function isReady() {
  return isInstalled() && runtimeWorks()
}

/**
 * npm writes its own record of the tree as the very last step, so a record that agrees with the lock file means a
 * complete installation, also one made by hand with `npm install`. An interrupted one has none, or an old one.
 */
function isInstalled() {
  const wanted = packagesOf(join(root, 'package-lock.json'))
  const present = packagesOf(join(modules, '.package-lock.json'))
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === '') return true // the project itself
    return present[path] === undefined ? optional === true : present[path].version === version
  })
}

function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')).packages ?? {}
  } catch {
    return {}
  }
}

function runtimeWorks() {
  return spawnSync(runtime, ['--version']).status === 0
}

function install(owners) {
  say('installing dependencies with npm ci; this happens once, and again when package-lock.json changes')
  // The pinned Node is a development dependency, so these are wanted with NODE_ENV=production too.
  return npm(['ci', '--include=dev', '--install-strategy=hoisted', '--no-audit', '--no-fund'], owners)
}

/** For machines that are set up to skip install scripts: the one script that we need, run by name. */
async function fetchRuntime(owners) {
  say('fetching the Node that this project is pinned to')
  await npm(['rebuild', 'node', '--ignore-scripts=false'], owners)
  if (!runtimeWorks()) fail('The pinned Node was installed but does not run on this machine.')
}

async function npm(args, owners) {
  // The shell becomes npm, so its process id is on record before npm touches anything.
  const enrolAndRun = 'printf " %s" "$$" >> "$0" && exec npm "$@"'
  const child = spawn('/bin/sh', ['-c', enrolAndRun, owners, ...args, '--loglevel=error'], {
    cwd: root,
    env: { ...process.env, PATH: pathWithoutModules() },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, complaints, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  if (status === 0) return
  process.stderr.write(`${output}${complaints}`)
  fail(`npm ${args[0]} did not succeed. ${hintFor(complaints)}`)
}

/** npm must not run on the Node that it is about to replace. */
function pathWithoutModules() {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.filter((folder) => !folder.startsWith(modules)).join(delimiter)
}

function hintFor(output) {
  const hints = [
    [/npm: (command )?not found/, 'There is no npm on the PATH; it comes with Node.'],
    [
      /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network/i,
      'The package registry cannot be reached: is the machine offline, or behind a proxy?',
    ],
    [/EUSAGE|in sync/, 'package.json and package-lock.json disagree: run npm install and look at what it changes.'],
    [/lockfileVersion|Unsupported URL/i, 'This npm is too old; version 10 or later works.'],
    [/EACCES|EPERM/, 'A file in node_modules belongs to another user.'],
    [/ENOSPC/, 'The disk is full.'],
  ]
  return hints.find(([pattern]) => pattern.test(output))?.[1] ?? 'What npm said is above.'
}

function fail(message) {
  say(message)
  process.exit(1)
}
