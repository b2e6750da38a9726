import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'

/** Runs npm without output. If it fails, prints its output and throws an error with a hint. */
export async function npm({ root, owners }, args) {
  // `exec` keeps the process id, so the id is in the owners file before npm changes anything.
  const registerAndRun = 'printf " %s" "$$" >> "$0" && exec npm "$@"'
  const child = spawn('/bin/sh', ['-c', registerAndRun, owners, ...args, '--loglevel=error'], {
    cwd: root,
    env: { ...process.env, ...skippedDownloads, PATH: pathWithout(join(root, 'node_modules')) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  if (status === 0) return
  process.stderr.write(`${output}${errors}`)
  throw new Error(`npm ${args[0]} failed. ${hintFor(errors)}`)
}

/** The install script of onnxruntime-node would download libraries for CUDA. An npm without `allowScripts` runs it. */
const skippedDownloads = { ONNXRUNTIME_NODE_INSTALL: 'skip' }

/** Removes node_modules from the PATH, because npm must not run on the Node that it is about to replace. */
function pathWithout(modules) {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.filter((folder) => !folder.startsWith(modules)).join(delimiter)
}

const hints = [
  [/npm: (command )?not found/, 'There is no npm on the PATH. It is part of Node.'],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|network/i,
    'The package registry cannot be reached: is the machine offline, or behind a proxy?',
  ],
  [/EUSAGE|in sync/, 'package.json and package-lock.json disagree: run npm install and check what it changes.'],
  [/lockfileVersion|Unsupported URL/i, 'This npm is too old; version 10 or later works.'],
  [/EACCES|EPERM/, 'A file in node_modules belongs to another user.'],
  [/ENOSPC/, 'The disk is full.'],
]

const hintFor = (errors) => hints.find(([pattern]) => pattern.test(errors))?.[1] ?? 'Its output is above.'
