import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { canInstall, install } from './apt.mjs'
import { npm } from './npm.mjs'

const runtimeOf = (root) => join(root, 'node_modules/.bin/node')

/** The system's error message if the pinned Node does not run, otherwise undefined. */
export function runtimeProblem(root) {
  const { status, error, stderr } = spawnSync(runtimeOf(root), ['--version'], { encoding: 'utf8' })
  return status === 0 ? undefined : (error?.message ?? stderr.trim())
}

/** Installs what the pinned Node needs to run. Throws an error with a hint if it still does not run. */
export async function repairRuntime(project) {
  const runtime = runtimeOf(project.root)
  if (!existsSync(runtime)) {
    // npm is configured to skip install scripts. Only this one is needed.
    project.log('fetching the Node that this project is pinned to')
    await npm(project, ['rebuild', 'node', '--ignore-scripts=false'])
  }
  if (lacksLibrary(project.root) && canInstall()) {
    project.log('installing libatomic1, which the pinned Node needs')
    install(['libatomic1'])
  }
  const problem = runtimeProblem(project.root)
  if (problem === undefined) return
  const hint = lacksLibrary(project.root) ? ' On Debian, it is in the package libatomic1; on Fedora, libatomic.' : ''
  rmSync(runtime, { force: true }) // npm would run the next attempt on it
  throw new Error(`The pinned Node does not run on this machine: ${problem}.${hint}`)
}

/** libatomic is the only library that Node needs and that minimal images lack. */
const lacksLibrary = (root) => runtimeProblem(root)?.includes('libatomic') ?? false
