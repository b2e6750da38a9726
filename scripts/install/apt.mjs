import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'

/** Whether packages can be installed without a prompt: as root, on Debian or a distribution based on it. */
export const canInstall = () => userInfo().uid === 0 && existsSync('/usr/bin/apt-get')

/**
 * Installs Debian packages. RUNLEVEL=1 asks them not to start their services. One that starts anyway does no harm, because the
 * tests' servers have their own ports and folders.
 */
export function install(packages) {
  const args = ['install', '--yes', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300', ...packages]
  try {
    aptGet(args)
  } catch {
    aptGet(['update']) // a fresh machine has no package lists, an old one has stale ones
    aptGet(args)
  }
}

function aptGet(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  execFileSync('apt-get', ['--quiet=2', ...args], { env, stdio: 'pipe' })
}
