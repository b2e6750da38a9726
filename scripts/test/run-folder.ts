import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type RunFolder = Disposable & { readonly path: string }

/** Where the tests of one run put their temporary files: whatever they forget goes with it. */
export function createRunFolder(): RunFolder {
  const path = mkdtempSync(join(tmpdir(), 'gatehouse-run-'))
  chmodSync(path, 0o1777) // like /tmp itself: suites start servers as other users
  return {
    path,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }),
  }
}
