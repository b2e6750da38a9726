import type { Clock } from '../../../../base/clock.ts'
import { afterIo } from '../../../../base/after-io.ts'
import { DatabaseError } from '../database.ts'

export type DatabaseBreakerParts = {
  /** Resolves if the server answers. */
  readonly probe: () => Promise<unknown>
  /** Closes the connections in use, because their server does not answer. */
  readonly onOpen: () => void
  /** The longest time a caller waits for a hanging server. The server is probed after a quarter of it. */
  readonly answerTimeoutMs: number
  /** The system clock, also in tests, because a real server does not follow a test clock. */
  readonly clock: Pick<Clock, 'after' | 'monotonicMs'>
}

/** A circuit breaker: while the server does not answer, the breaker is open and work is rejected at once. */
export type DatabaseBreaker = Disposable & {
  run<T>(work: (call: DatabaseCall) => Promise<T>): Promise<T>
  /** Call when a connection failed or broke. A probe then decides whether the server is unavailable. */
  suspect(): void
  /** Call after a commit, which proves that the server answers. */
  committed(): void
}

/** One call of `run`. Once it is over, its caller got an error, so `work` must not start anything else. */
export type DatabaseCall = { readonly isOver: boolean }

const probeIntervalMs = 500

/**
 * Slow work does not open the breaker as long as the server answers probes, because a report may take seconds and must not cut
 * off other tenants. A hanging server does not answer probes either.
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
      cancelRetry = clock.after(probeIntervalMs, suspect)
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
 * Rejects after `ms`. An answer that arrived in time still counts if this process was too busy to read it. If the process was
 * suspended, the timeout starts again.
 */
async function within(clock: DatabaseBreakerParts['clock'], ms: number, work: Promise<unknown>): Promise<void> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  let cancel = (): void => {}
  const start = (): void => {
    const dueMs = clock.monotonicMs() + ms
    cancel = clock.after(ms, () => void onTimeout(dueMs))
  }
  const onTimeout = async (dueMs: number): Promise<void> => {
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
