import { systemClock } from '../../../../base/clock.ts'
import { DatabaseError, type DatabaseRow, type Statement } from '../database.ts'
import { createReportSlots, type ReportSlots } from '../report-slots.ts'
import { startDatabaseThread, type DatabaseThread } from './channel.ts'
import { onlyStep, type ReaderOptions } from './protocol.ts'

export type SqliteReportsParts = {
  readonly workerData: ReaderOptions
  /** The longest a report may run, and the longest it may wait for the one before it. */
  readonly timeoutMs: number
  /** Commits the acknowledged groups, because the connection of the reports does not see them before. */
  readonly commitPending: () => Promise<void>
  /** Reads in the storage thread, which sees the acknowledged groups. */
  readonly readPending: (statement: Statement) => Promise<DatabaseRow[]>
}

export type SqliteReports = AsyncDisposable & {
  run(statement: Statement): Promise<DatabaseRow[]>
  figures: ReportSlots['figures']
}

/**
 * node:sqlite cannot interrupt a statement. A thread that is still inside one after the deadline is abandoned: it ends after the
 * statement. Each one uses a processor and keeps the write-ahead log from shrinking, so there are few.
 */
const maxAbandoned = 2

/** Runs reports one after the other, in a thread that starts with the first one. */
export function createSqliteReports(parts: SqliteReportsParts): SqliteReports {
  const { workerData, timeoutMs, commitPending, readPending } = parts
  const slots = createReportSlots({ most: 1, waitMs: timeoutMs })
  let thread: DatabaseThread | undefined
  let abandoned = 0

  async function startedThread(): Promise<DatabaseThread> {
    if (thread !== undefined) return thread
    if (abandoned >= maxAbandoned) throw new DatabaseError('timeout', 'earlier reports that took too long still run')
    const script = new URL('./report-worker.ts', import.meta.url)
    const { path, busyTimeoutMs } = workerData
    const fresh = startDatabaseThread({ name: 'reports', script, workerData: { path, busyTimeoutMs } })
    void fresh.ended.then(() => thread === fresh && (thread = undefined))
    await fresh.call('open') // the deadline of a report begins when its thread is ready
    thread = fresh
    return fresh
  }

  function abandon(stuck: DatabaseThread): void {
    thread = undefined
    abandoned++
    stuck.terminate()
    void stuck.ended.then(() => abandoned--)
  }

  async function runInThread(statement: Statement): Promise<DatabaseRow[]> {
    const running = await startedThread()
    const { promise: deadline, reject } = Promise.withResolvers<never>()
    const cancel = systemClock.after(timeoutMs, () => {
      abandon(running)
      reject(new DatabaseError('timeout', `the report did not end within ${timeoutMs} ms`))
    })
    try {
      const [result] = onlyStep(await Promise.race([running.call('read', () => [[statement]]), deadline]))
      return result?.rows ?? []
    } finally {
      cancel()
    }
  }

  return {
    run: (statement) =>
      slots.run(async () => {
        // Before each report, also because no report is open then: only at such a moment the write-ahead log can start over.
        const isCommitted = await commitPending().then(
          () => true,
          () => false, // as on a full disk
        )
        return isCommitted ? await runInThread(statement) : await readPending(statement)
      }),
    figures: slots.figures,
    async [Symbol.asyncDispose]() {
      const last = thread
      await last?.call('close').catch(() => undefined) // a dead thread has nothing to close
      await last?.ended
    },
  }
}
