import type { Clock } from './clock.ts'
import { Fault, isFault } from './fault.ts'

/** What this node knows about the places where a request leaves its charge and its event. */
export type StorageHealth = {
  /** The fault that a write to the database would end with now; undefined while the database takes writes. */
  database(): Fault | undefined
  /** The same for the node's own data folder, where charges and events wait while PostgreSQL is out of reach. */
  disk(): Fault | undefined
  /** The fault of a request whose charge and event can be kept nowhere. Asked before the upstream is called. */
  refusal(): Fault | undefined
}

/** Told how calls to the database ended, so that a failure is known before the next probe. */
export type StorageObserver = {
  failed(fault: Fault): void
  written(): void
}

export type StorageHealthParts = {
  /** With embedded storage there is no spool: database and data folder are one disk. */
  readonly hasSpool: boolean
  readonly clock: Pick<Clock, 'after'>
  /** Commits a small write; rejects with the Fault. */
  readonly writeDatabase: () => Promise<unknown>
  /** Writes to the data folder; after a failure it writes as much as a request may need. Rejects with the Fault. */
  readonly writeDisk: (wasFailing: boolean) => Promise<unknown>
}

export type ProbedStorage = StorageHealth & StorageObserver & Disposable & { probe(): Promise<void> }

const diskEveryMs = 5_000
const failingEveryMs = 1_000

/**
 * A failed write is believed at once where the disk is full. Where the database is said to be unavailable, a probe decides,
 * because one statement may also fail alone. Probes go on until both places take writes again, so no restart is needed.
 */
export function createStorageHealth(parts: StorageHealthParts): ProbedStorage {
  let database: Fault | undefined
  let disk: Fault | undefined
  let probing: Promise<void> | undefined
  let isSuspected = false
  let isDisposed = false
  let cancel = (): void => {}

  async function probeOnce(): Promise<void> {
    const asksDatabase = isSuspected || database !== undefined
    isSuspected = false
    await Promise.all([
      parts.writeDisk(disk !== undefined).then(
        () => (disk = undefined),
        (error: unknown) => (disk = faultOf(error)),
      ),
      asksDatabase &&
        parts.writeDatabase().then(
          () => (database = undefined),
          (error: unknown) => (database = faultOf(error)),
        ),
    ])
  }

  function probe(): Promise<void> {
    cancel()
    probing ??= probeOnce().finally(() => {
      probing = undefined
      scheduleNext()
    })
    return probing
  }

  function scheduleNext(): void {
    cancel()
    if (isDisposed || probing) return
    const isFailing = database !== undefined || disk !== undefined
    const delayMs = isSuspected ? 0 : isFailing ? failingEveryMs : diskEveryMs
    cancel = parts.clock.after(delayMs, () => void probe())
  }

  return {
    database: () => (parts.hasSpool ? database : (database ?? disk)),
    disk: () => disk,
    refusal: () => (parts.hasSpool ? disk && database : (database ?? disk)),
    failed(fault) {
      if (fault.code === 'storage_full') database = fault
      else if (database === undefined) isSuspected = true
      else return
      scheduleNext()
    },
    written() {
      database = undefined
    },
    probe,
    [Symbol.dispose]() {
      isDisposed = true
      cancel()
    },
  }
}

const faultOf = (error: unknown): Fault =>
  isFault(error)
    ? error
    : new Fault('unavailable', 'storage_unavailable', 'The storage cannot be written.', {
        retryAfterSeconds: 5,
        cause: error,
      })
