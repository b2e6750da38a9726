import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Creates a virtual environment inside `node_modules` for the clients in `requirements.txt`. Returns the reason if that
 * fails.
 */
export function installPython(folder: string, log: (line: string) => void): string | undefined {
  const required = join(folder, 'python/requirements.txt')
  const home = join(folder, 'node_modules/.python')
  // This copy is written last, so an incomplete environment has none.
  const installed = join(home, 'requirements.txt')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(required, 'utf8')) return undefined
  log('installing the clients for Python')
  rmSync(home, { recursive: true, force: true })
  const pip = [join(home, 'bin/python'), '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
  for (const [command = '', ...args] of [
    ['python3', '-m', 'venv', home],
    [...pip, '--requirement', required],
  ]) {
    const { status, error, stderr } = spawnSync(command, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
    })
    if (error !== undefined) return error.message
    if (status !== 0) return stderr.trim().split('\n').at(-1) ?? `${command} failed`
  }
  copyFileSync(required, installed)
  return undefined
}
