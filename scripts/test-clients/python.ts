import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Creates a virtual environment inside `node_modules` for the clients in `requirements.txt`. Returns the reason if that
 * fails.
 */
export function installPython(folder: string, say: (line: string) => void): string | undefined {
  const wanted = join(folder, 'python/requirements.txt')
  const home = join(folder, 'node_modules/.python')
  // Copied last, so that an incomplete environment has none.
  const made = join(home, 'requirements.txt')
  if (existsSync(made) && readFileSync(made, 'utf8') === readFileSync(wanted, 'utf8')) return undefined
  say('installing the clients for Python')
  rmSync(home, { recursive: true, force: true })
  const pip = [join(home, 'bin/python'), '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
  for (const [command = '', ...args] of [
    ['python3', '-m', 'venv', home],
    [...pip, '--requirement', wanted],
  ]) {
    const { status, error, stderr } = spawnSync(command, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
    })
    if (error !== undefined) return error.message
    if (status !== 0) return stderr.trim().split('\n').at(-1) ?? `${command} did not succeed`
  }
  copyFileSync(wanted, made)
  return undefined
}
