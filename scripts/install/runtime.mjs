import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { canInstall, install } from './apt.mjs'
import { npm } from './npm.mjs'

const runtimeOf = (root) => join(root, 'node_modules/.bin/node')

/** Why the pinned Node does not run, in the machine's words; nothing where it does. */
export function runtimeProblem(root) {
  const { status, error, stderr } = spawnSync(runtimeOf(root), ['--version'], { encoding: 'utf8' })
  return status === 0 ? undefined : (error?.message ?? stderr.trim())
}

/** Makes the pinned Node run, or throws a sentence that says what to do. */
export async function mendRuntime(project) {
  const runtime = runtimeOf(project.root)
  if (!existsSync(runtime)) {
    // The machine is set up to skip install scripts. This is the one that we need, run by name.
    project.say('fetching the Node that this project is pinned to')
    await npm(project, ['rebuild', 'node', '--ignore-scripts=false'])
  }
  if (lacksLibrary(project.root) && canInstall()) {
    project.say('installing libatomic1, which the pinned Node needs')
    install(['libatomic1'])
  }
  const problem = runtimeProblem(project.root)
  if (problem === undefined) return
  const hint = lacksLibrary(project.root) ? ' On Debian, it is in the package libatomic1; on Fedora, libatomic.' : ''
  rmSync(runtime, { force: true }) // npm would run the next attempt on it
  throw new Error(`The pinned Node does not run on this machine: ${problem}.${hint}`)
}

/** The one library that Node needs and small machines lack. */
const lacksLibrary = (root) => runtimeProblem(root)?.includes('libatomic') ?? false
