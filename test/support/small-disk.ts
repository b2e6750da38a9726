import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { temporaryFolder } from './temporary-folder.ts'

/** Fills the remaining space. */
export function fillUp(path: string): void {
  assert.throws(() => writeFileSync(path, Buffer.alloc(64 * 1024 * 1024)), { code: 'ENOSPC' })
}

/** A disk of eight megabytes; only root can mount it. */
export async function mountSmallDisk(): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await temporaryFolder()
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder.path])
  return {
    path: folder.path,
    async [Symbol.asyncDispose]() {
      execFileSync('umount', [folder.path])
      await folder[Symbol.asyncDispose]()
    },
  }
}

export function canMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
