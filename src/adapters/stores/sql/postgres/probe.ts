import { Pool } from 'pg'
import type { Clock } from '../../../../base/clock.ts'
import { fromPostgres } from '../errors.ts'
import { probeStatements } from '../write-probe.ts'

export type ProbeParts = { readonly url: string; readonly timeoutMs: number; readonly clock: Pick<Clock, 'after'> }

export type Probe = AsyncDisposable & {
  /** Resolves where the server commits, or says why it does not. Rejects where nobody answers. */
  ask(): Promise<void>
}

/** A connection may have died while it was idle, so after this long or a failure the probe is sent on a new one, too. */
const secondTryMs = 150

/**
 * Two connections beside the pool, which may be exhausted by what hangs. The first one stays open. The probe commits: a server
 * whose reads are answered and whose commits hang, as without its synchronous standby, counts as hung.
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

  async function askOnce(): Promise<void> {
    try {
      await pool.query(probeStatements.postgres)
    } catch (error) {
      const failure = fromPostgres(error)
      if (failure.reason === 'unavailable') throw failure
    }
  }

  return {
    async ask() {
      const begin = Promise.withResolvers<void>()
      const cancel = clock.after(secondTryMs, begin.resolve)
      const first = askOnce()
      first.catch(() => begin.resolve())
      try {
        await Promise.any([first, begin.promise.then(askOnce)])
      } catch (error) {
        throw error instanceof AggregateError ? error.errors.at(-1) : error
      } finally {
        cancel()
      }
    },
    [Symbol.asyncDispose]: () => pool.end(),
  }
}
