import { chmodSync } from 'node:fs'
import { ownAccount } from './account.ts'
import { startSupervised } from './supervised-server.ts'

export type RunFolder = AsyncDisposable & { readonly path: string }

/**
 * The folder for the temporary files of one test run, including files that tests do not remove. It is the folder of a supervised
 * `sleep` process, so that it is removed even after `kill -9`.
 */
export function createRunFolder(): RunFolder {
  const sleeper = startSupervised({
    name: 'run',
    files: {},
    command: ['sleep', '604800'],
    stopSignal: 'KILL',
    account: ownAccount(),
  })
  chmodSync(sleeper.folder, 0o1777) // like /tmp itself: suites start servers as other users
  return { path: sleeper.folder, [Symbol.asyncDispose]: () => sleeper[Symbol.asyncDispose]() }
}
