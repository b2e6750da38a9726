import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** A virtual environment inside `node_modules`, and the packages in it. */
type PythonEnvironment = {
  readonly name: string
  readonly home: string
  readonly requirements: string
  readonly variables?: Readonly<Record<string, string>>
}

export const pythonEnvironments: readonly PythonEnvironment[] = [
  { name: 'the clients for Python', home: '.python', requirements: 'python/requirements.txt' },
  {
    name: 'clients for Python that need older versions of the official ones',
    home: '.python-older',
    requirements: 'python/older-requirements.txt',
  },
  {
    name: 'a model with its server, which pip compiles for several minutes',
    home: '.model',
    requirements: 'python/model-requirements.txt',
    // Without the instructions of this CPU only, because some virtual machines report instructions that they reject.
    variables: { CMAKE_ARGS: '-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF' },
  },
]

/** Installs an environment if it is missing or its requirements changed. Returns the reason if that fails. */
export function installPython(
  folder: string,
  environment: PythonEnvironment,
  log: (line: string) => void,
): string | undefined {
  const required = join(folder, environment.requirements)
  const home = join(folder, 'node_modules', environment.home)
  // This copy is written last, so an incomplete environment has none.
  const installed = join(home, 'requirements.txt')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(required, 'utf8')) return undefined
  log(`installing ${environment.name}`)
  rmSync(home, { recursive: true, force: true })
  const pip = [join(home, 'bin/python'), '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
  for (const [command = '', ...args] of [
    ['python3', '-m', 'venv', home],
    [...pip, '--requirement', required],
  ]) {
    const { status, error, stderr } = spawnSync(command, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
      env: { ...environment.variables, ...process.env },
    })
    if (error !== undefined) return error.message
    if (status !== 0) return stderr.trim().split('\n').at(-1) ?? `${command} failed`
  }
  copyFileSync(required, installed)
  return undefined
}
