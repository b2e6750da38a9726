import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'

/** Runs npm quietly. Where it fails, shows what it said and throws a sentence that says what to do. */
export async function npm({ root, owners }, args) {
  // The shell becomes npm, so its process id is on record before npm touches anything.
  const enrolAndRun = 'printf " %s" "$$" >> "$0" && exec npm "$@"'
  const child = spawn('/bin/sh', ['-c', enrolAndRun, owners, ...args, '--loglevel=error'], {
    cwd: root,
    env: { ...process.env, PATH: pathWithout(join(root, 'node_modules')) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, complaints, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  if (status === 0) return
  process.stderr.write(`${output}${complaints}`)
  throw new Error(`npm ${args[0]} did not succeed. ${hintFor(complaints)}`)
}

/** npm must not run on the Node that it is about to replace. */
function pathWithout(modules) {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.filter((folder) => !folder.startsWith(modules)).join(delimiter)
}

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

const hintFor = (complaints) => hints.find(([pattern]) => pattern.test(complaints))?.[1] ?? 'What npm said is above.'
