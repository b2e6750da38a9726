import { chmodSync } from 'node:fs'
import { ownAccount } from './account.ts'
import { keepServer } from './keeper.ts'

export type RunFolder = AsyncDisposable & { readonly path: string }

/**
 * Where the tests of one run put their temporary files: whatever they forget goes with it. The keeper that removes it
 * watches over a sleeper in place of a server, so that it is removed after a kill -9 too.
 */
export function createRunFolder(): RunFolder {
  const sleeper = keepServer({
    name: 'run',
    files: {},
    command: ['sleep', '604800'],
    stopSignal: 'KILL',
    account: ownAccount(),
  })
  chmodSync(sleeper.folder, 0o1777) // like /tmp itself: suites start servers as other users
  return { path: sleeper.folder, [Symbol.asyncDispose]: () => sleeper[Symbol.asyncDispose]() }
}
