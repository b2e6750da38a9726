import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Somebody who tries the service has their first answer by then; a collection takes a tenth of a second. */
const afterMs = 1_000

/**
 * A start reads hundreds of files, and the memory that this took stays with the process until it is needed elsewhere. A
 * server may wait long for its first request: it gives a quarter of its memory back.
 */
export function giveBackStartMemory(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc') // `gc` is in contexts that are made from now on, not in ours
    const collect: unknown = runInNewContext('gc')
    if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  }, afterMs).unref()
}
