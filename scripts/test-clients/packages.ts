import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

type LockedPackage = { readonly version?: string; readonly optional?: boolean }

/** Installs the dependencies of the project in `folder` if missing. Returns the packages that could not be installed. */
export function installPackages(folder: string, log: (line: string) => void): string[] {
  if (!isInstalled(folder)) {
    log('installing the other clients with npm ci; this happens once, and again when their package-lock.json changes')
    const { status } = spawnSync('npm', ['ci', '--loglevel=error'], { cwd: folder, stdio: ['ignore', 2, 2] })
    if (status !== 0) throw new Error('npm ci failed. Its output is above.')
  }
  return missing(folder).map(([path]) => path)
}

const isInstalled = (folder: string): boolean => {
  const present = lockedIn(folder, 'node_modules/.package-lock.json')
  return Object.keys(present).length > 0 && missing(folder).every(([, { optional }]) => optional === true)
}

/** Ignores optional binaries for other platforms. */
function missing(folder: string): [string, LockedPackage][] {
  const present = lockedIn(folder, 'node_modules/.package-lock.json')
  return Object.entries(lockedIn(folder, 'package-lock.json')).filter(
    ([path, { version }]) => path !== '' && !isForAnotherMachine(path) && present[path]?.version !== version,
  )
}

const machine = `${process.platform}-${process.arch}`
const isForAnotherMachine = (path: string): boolean =>
  /-(darwin|linux|win32|android)-/.test(path) && !path.endsWith(machine)

function lockedIn(folder: string, file: string): Record<string, LockedPackage> {
  try {
    return JSON.parse(readFileSync(join(folder, file), 'utf8')).packages ?? {}
  } catch {
    return {}
  }
}
