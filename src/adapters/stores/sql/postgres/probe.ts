import { Pool } from 'pg'
import type { Clock } from '../../../../base/clock.ts'
import { fromPostgres } from '../errors.ts'
import { probeStatements } from '../write-probe.ts'

export type ProbeParts = { readonly url: string; readonly timeoutMs: number; readonly clock: Pick<Clock, 'after'> }

export type Probe = AsyncDisposable & {
  /** Resolves if the server commits or reports an error. Rejects if it does not answer. */
  send(): Promise<void>
}

/** After this delay or a failure the probe is also sent on a second connection, because the first may have broken while idle. */
const secondAttemptMs = 150

/**
 * Two connections outside of the pool, which may be exhausted by hanging calls. The first one stays open. The probe commits,
 * because a server whose commits hang, as without its synchronous standby, counts as hanging even if it answers reads.
 */
export function createProbe({ url, timeoutMs, clock }: ProbeParts): Probe {
  const pool = new Pool({
    connectionString: url,
    fallback_application_name: 'gatehouse probe',
    max: 2,
    min: 1,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    keepAlive: true,
  })
  pool.on('error', () => undefined)

  async function sendOnce(): Promise<void> {
    try {
      await pool.query(probeStatements.postgres)
    } catch (error) {
      const failure = fromPostgres(error)
      if (failure.reason === 'unavailable') throw failure
    }
  }

  return {
    async send() {
      const begin = Promise.withResolvers<void>()
      const cancel = clock.after(secondAttemptMs, begin.resolve)
      const first = sendOnce()
      first.catch(() => begin.resolve())
      try {
        await Promise.any([first, begin.promise.then(sendOnce)])
      } catch (error) {
        throw error instanceof AggregateError ? error.errors.at(-1) : error
      } finally {
        cancel()
      }
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}
