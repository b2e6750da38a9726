import type { Clock } from './clock.ts'
import { Fault, isFault } from './fault.ts'

/** Whether the database and the data folder, which store the charge and the audit event of a request, can be written. */
export type StorageHealth = {
  /** The fault that a write to the database would end with now; undefined while the database takes writes. */
  database(): Fault | undefined
  /** The same for this node's data folder, which spools charges and events while PostgreSQL cannot be reached. */
  disk(): Fault | undefined
  /** The fault of a request whose charge and event cannot be stored anywhere. Checked before the upstream is called. */
  requestFault(): Fault | undefined
}

/** Receives the outcome of each database call, so that a failure is known before the next probe. */
export type StorageObserver = {
  failed(fault: Fault): void
  written(): void
  /**
   * The database answers, but rejects a write that every request needs. `isAccepted` tries it again without effect. Other writes may
   * succeed meanwhile, so neither they nor the probe end this state.
   */
  rejected?(fault: Fault, isAccepted: () => Promise<boolean>): void
}

export type StorageHealthParts = {
  /** False with embedded storage, where database and data folder are on one disk. */
  readonly hasSpool: boolean
  readonly clock: Pick<Clock, 'after'>
  /** Commits a small write; rejects with the Fault. */
  readonly writeDatabase: () => Promise<unknown>
  /** Writes to the data folder; after a failure it writes as much as a request can need. Rejects with the Fault. */
  readonly writeDisk: (wasFailing: boolean) => Promise<unknown>
}

export type ProbedStorage = StorageHealth & Required<StorageObserver> & Disposable & { probe(): Promise<void> }

type RejectedWrite = { readonly fault: Fault; isAccepted(): Promise<boolean> }

const diskEveryMs = 5_000
const failingEveryMs = 1_000

/** Writes to different tables may be rejected. A further one is noticed when these are accepted again. */
const maxRejected = 4

/**
 * A write that fails because the disk is full counts at once. If a call reports that the database is unavailable, a probe
 * decides, because a single statement can also fail alone. Probes continue until both can be written again, so no restart is needed.
 */
export function createStorageHealth(parts: StorageHealthParts): ProbedStorage {
  let database: Fault | undefined
  let disk: Fault | undefined
  let probing: Promise<void> | undefined
  let isSuspected = false
  let rejected: readonly RejectedWrite[] = []
  let isDisposed = false
  let cancel = (): void => {}

  async function probeOnce(): Promise<void> {
    const probesDatabase = isSuspected || database !== undefined
    isSuspected = false
    await Promise.all([
      parts.writeDisk(disk !== undefined).then(
        () => (disk = undefined),
        (error: unknown) => (disk = faultOf(error)),
      ),
      probesDatabase &&
        parts.writeDatabase().then(
          () => (database = undefined),
          (error: unknown) => (database = faultOf(error)),
        ),
      retryRejected(),
    ])
  }

  async function retryRejected(): Promise<void> {
    for (const write of rejected) {
      if (!(await write.isAccepted().catch(() => false))) return
      rejected = rejected.filter((other) => other !== write)
    }
  }

  const databaseFault = (): Fault | undefined => database ?? rejected[0]?.fault

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
    const isFailing = databaseFault() !== undefined || disk !== undefined
    const delayMs = isSuspected ? 0 : isFailing ? failingEveryMs : diskEveryMs
    cancel = parts.clock.after(delayMs, () => void probe())
  }

  return {
    database: () => (parts.hasSpool ? databaseFault() : (databaseFault() ?? disk)),
    disk: () => disk,
    requestFault: () => (parts.hasSpool ? disk && databaseFault() : (databaseFault() ?? disk)),
    failed(fault) {
      if (fault.code === 'storage_locked') return // concerns some rows, not the database
      if (fault.code === 'storage_full') database = fault
      else if (database === undefined) isSuspected = true
      else return
      scheduleNext()
    },
    written() {
      database = undefined
    },
    rejected(fault, isAccepted) {
      if (rejected.length < maxRejected) rejected = [...rejected, { fault, isAccepted }]
      scheduleNext()
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
