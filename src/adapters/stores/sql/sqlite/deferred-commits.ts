import type { StatementResult, WriteOptions } from '../database.ts'
import type { SqliteConnection } from './connection.ts'
import { command, commitGroup, failAll, rollback, runSteps } from './group.ts'
import type { StatementList, StepOutcome } from './protocol.ts'
import type { RedoLog } from './redo-log.ts'
import type { RedoStatement } from './redo-record.ts'
import { redo, setPosition } from './redo-recovery.ts'

/** Runs groups of steps and makes them durable. */
export type GroupWriter = {
  runGroup(steps: readonly StatementList[], options?: WriteOptions): StepOutcome[]
  /** Commits what is pending. If it throws, the groups stay pending. */
  flush(): void
  /** Repeats the open transaction if it was lost, so that the connection sees every acknowledged step. */
  restore(): void
  isPending(): boolean
  /** Whether enough is pending that `flush` should be called soon. */
  isFlushDue(): boolean
  close(): void
}

/** Bounds how long `flush` takes, and how many pages it keeps in memory. */
const maxPendingBytes = 1024 * 1024

/**
 * Runs groups in a transaction that stays open. The redo log makes each group durable before its steps are acknowledged, and
 * `flush` commits many groups at once: a page that all of them changed is written once. If SQLite rolls the open transaction
 * back, it is repeated from the redo log.
 */
export function createDeferredCommits(writer: SqliteConnection, log: RedoLog): GroupWriter {
  const isPending = (): boolean => log.size() > 0
  const isFlushDue = (): boolean => log.size() > maxPendingBytes

  function restore(): void {
    if (writer.isTransaction()) return
    command(writer, 'begin immediate')
    if (!isPending()) return
    try {
      redo(writer, log.records())
    } catch (error) {
      rollback(writer) // half of the groups must not count as all
      throw error
    }
  }

  function flush(): void {
    if (!isPending()) return
    restore()
    commit()
  }

  function commit(): void {
    writer.run({ sql: setPosition, params: [log.sequence()] })
    command(writer, 'commit')
    log.startOver()
  }

  /** Without the redo log: the commit itself makes the group durable. */
  function runAtOnce(steps: readonly StatementList[]): StepOutcome[] {
    flush()
    return commitGroup(writer, steps)
  }

  function runDeferred(steps: readonly StatementList[], options?: WriteOptions): StepOutcome[] {
    if (isFlushDue()) flush()
    restore()
    const outcomes = runSteps(writer, steps)
    if (outcomes === undefined) {
      rollback(writer) // also undoes the earlier groups, which `runAtOnce` repeats
      return runAtOnce(steps)
    }
    const changes = changesOf(steps, outcomes)
    if (changes.length > 0) record(changes, options)
    else if (!isPending()) rollback(writer) // only pending groups keep a transaction open
    return outcomes
  }

  /** If the log cannot be written, the database can still commit. */
  function record(changes: readonly RedoStatement[], options?: WriteOptions): void {
    try {
      log.append(changes, options)
    } catch {
      commit()
    }
  }

  return {
    runGroup(steps, options) {
      try {
        return steps.every(isRepeatable) ? runDeferred(steps, options) : runAtOnce(steps)
      } catch (error) {
        rollback(writer)
        return failAll(steps, error)
      }
    },
    flush,
    restore,
    isPending,
    isFlushDue,
    close: log.close,
  }
}

/** Changes of rows depend only on the rows and the parameters. Other statements, such as changes of the schema, are committed at once. */
const isRepeatable = (step: StatementList): boolean =>
  step.every(({ sql }) => /^\s*(insert|update|delete|select)\b/i.test(sql))

const isRead = (sql: string): boolean => /^\s*select\b/i.test(sql)

function changesOf(
  steps: readonly StatementList[],
  outcomes: readonly { readonly results: readonly StatementResult[] }[],
): RedoStatement[] {
  return steps.flatMap((step, at) =>
    step.flatMap(({ sql, params = [] }, index) => {
      const changed = outcomes[at]?.results[index]?.changed ?? 0
      return changed === 0 || isRead(sql) ? [] : [{ sql, params, changed }]
    }),
  )
}
