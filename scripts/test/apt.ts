import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'

/** Whether we may install packages here without asking anybody: as root on Debian or a relative of it. */
export const canInstall = (): boolean => userInfo().uid === 0 && existsSync('/usr/bin/apt-get')

/**
 * Installs Debian packages. Whether their own services start does not matter: the tests' servers have ports and folders of
 * their own. RUNLEVEL=1 keeps them from starting where anything heeds it.
 */
export function install(packages: readonly string[]): void {
  const arguments_ = ['install', '--yes', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300', ...packages]
  try {
    aptGet(arguments_)
  } catch {
    aptGet(['update']) // a fresh machine has no package lists, an old one has stale ones
    aptGet(arguments_)
  }
}

function aptGet(args: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  execFileSync('apt-get', ['--quiet=2', ...args], { env, stdio: 'pipe' })
}
