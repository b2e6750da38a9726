import type { Clock } from '../../../../base/clock.ts'
import { afterIo } from '../../../../base/after-io.ts'
import { DatabaseError } from '../database.ts'

export type DatabaseBreakerParts = {
  /** Resolves where the server answers. */
  readonly probe: () => Promise<unknown>
  /** Ends what is under way: its connections lead to a server that does not answer. */
  readonly onOpen: () => void
  /** A caller waits this long at the most for a server that hangs; a quarter of it goes by before the server is probed. */
  readonly answerTimeoutMs: number
  /** The world's own: a server does not answer faster because a test's time does. */
  readonly clock: Pick<Clock, 'after' | 'monotonicMs'>
}

/** Knows whether the server answers. While it does not, the breaker is open and work is rejected at once. */
export type DatabaseBreaker = Disposable & {
  run<T>(work: (call: DatabaseCall) => Promise<T>): Promise<T>
  /** A connection failed or broke. One may do so alone, so a probe decides. */
  suspect(): void
  /** The server has committed something, which is as good as the answer to a probe. */
  committed(): void
}

/** What `run` waits for. Once it is over its caller was told that it failed, so it must not begin anything more. */
export type DatabaseCall = { readonly isOver: boolean }

const probeEveryMs = 500

/**
 * Work that takes long opens nothing as long as the server answers probes: a report may take seconds, and a tenant who asks
 * for one must not cut off all others. A server that hangs answers no probe either.
 */
export function createDatabaseBreaker({
  probe,
  onOpen,
  answerTimeoutMs,
  clock,
}: DatabaseBreakerParts): DatabaseBreaker {
  const suspectAfterMs = answerTimeoutMs / 4
  const probeTimeoutMs = answerTimeoutMs - suspectAfterMs
  let open: DatabaseError | undefined
  let probing: Promise<void> | undefined
  let cancelRetry = (): void => {}
  let isDisposed = false
  let commits = 0
  const calls = new Set<{ isOver: boolean; reject(error: unknown): void }>()

  async function check(): Promise<void> {
    const before = commits
    try {
      await within(clock, probeTimeoutMs, probe())
      open = undefined
    } catch (cause) {
      if (isDisposed || commits > before) return
      const isNew = open === undefined
      open = new DatabaseError('unavailable', 'the database does not answer', cause)
      cancelRetry = clock.after(probeEveryMs, suspect)
      if (isNew) endCalls(open)
    }
  }

  function endCalls(error: DatabaseError): void {
    for (const call of calls) {
      call.isOver = true
      call.reject(error)
    }
    onOpen()
  }

  function suspect(): void {
    cancelRetry()
    probing ??= check().finally(() => (probing = undefined))
  }

  return {
    suspect,
    committed: () => void commits++,
    async run<T>(work: (call: DatabaseCall) => Promise<T>) {
      if (open) throw open
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      const call = { isOver: false, reject }
      calls.add(call)
      let cancel = clock.after(suspectAfterMs, function again() {
        cancel = clock.after(suspectAfterMs, again)
        suspect()
      })
      try {
        work(call).then(resolve, reject)
        return await promise
      } finally {
        cancel()
        calls.delete(call)
      }
    },
    [Symbol.dispose]() {
      isDisposed = true
      cancelRetry()
    },
  }
}

/**
 * Rejects after `ms`. An answer that this process was too busy to read in time counts all the same; where the process did not
 * run at all, the server gets its time once more.
 */
async function within(clock: DatabaseBreakerParts['clock'], ms: number, work: Promise<unknown>): Promise<void> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  let cancel = (): void => {}
  const start = (): void => {
    const dueMs = clock.monotonicMs() + ms
    cancel = clock.after(ms, () => void giveUp(dueMs))
  }
  const giveUp = async (dueMs: number): Promise<void> => {
    if (clock.monotonicMs() - dueMs > ms / 2) return start()
    await afterIo()
    await afterIo()
    reject(new DatabaseError('unavailable', `no answer within ${ms} ms`))
  }
  start()
  try {
    await Promise.race([work, timeout])
  } finally {
    cancel()
  }
}
