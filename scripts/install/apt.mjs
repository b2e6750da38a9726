import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'

/** Whether we may install packages here without asking anybody: as root on Debian or a relative of it. */
export const canInstall = () => userInfo().uid === 0 && existsSync('/usr/bin/apt-get')

/**
 * Installs Debian packages. Whether their own services start does not matter: the tests' servers have ports and
 * folders of their own. RUNLEVEL=1 keeps them from starting where anything heeds it.
 */
export function install(packages) {
  const order = ['install', '--yes', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300', ...packages]
  try {
    aptGet(order)
  } catch {
    aptGet(['update']) // a fresh machine has no package lists, an old one has stale ones
    aptGet(order)
  }
}

function aptGet(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  execFileSync('apt-get', ['--quiet=2', ...args], { env, stdio: 'pipe' })
}
