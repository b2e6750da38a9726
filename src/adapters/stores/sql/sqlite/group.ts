import { assertExpectedRows, UnexpectedRows, type StatementResult } from '../database.ts'
import { fromSqlite } from '../errors.ts'
import type { SqliteConnection } from './connection.ts'
import type { Failure, StatementList, StepOutcome } from './protocol.ts'

/**
 * Group commit: one fsync for all steps. A step that fails is rolled back alone. If it rolled the whole transaction back, as a step
 * that does not fit on the disk may, each step is run in a transaction of its own.
 */
export function commitGroup(writer: SqliteConnection, steps: readonly StatementList[]): StepOutcome[] {
  try {
    return (
      runTogether(writer, steps) ??
      runWithSavepoints(writer, steps) ??
      steps.flatMap((step) => commitGroup(writer, [step]))
    )
  } catch (error) {
    rollback(writer)
    return failAll(steps, error)
  }
}

export function failAll(steps: readonly StatementList[], error: unknown): StepOutcome[] {
  const failure = toFailure(error)
  return steps.map(() => ({ failure }))
}

/** Runs the steps without savepoints, which cost as much as the steps. Undefined if one failed: then none is done. */
function runTogether(writer: SqliteConnection, steps: readonly StatementList[]): StepOutcome[] | undefined {
  command(writer, 'begin immediate')
  const outcomes = runSteps(writer, steps)
  if (outcomes === undefined) rollback(writer)
  else command(writer, 'commit')
  return outcomes
}

/** Runs the steps in the current transaction. Undefined if one failed: then the transaction must be rolled back. */
export function runSteps(
  writer: SqliteConnection,
  steps: readonly StatementList[],
): { readonly results: StatementResult[] }[] | undefined {
  try {
    return steps.map((step) => ({ results: runAll(writer, step) }))
  } catch {
    return undefined
  }
}

/** Runs each step with a savepoint. Undefined if a step rolled the whole transaction back. */
function runWithSavepoints(writer: SqliteConnection, steps: readonly StatementList[]): StepOutcome[] | undefined {
  command(writer, 'begin immediate')
  const outcomes: StepOutcome[] = []
  for (const step of steps) {
    const outcome = attempt(() => runStep(writer, step))
    if (!writer.isTransaction()) return steps.length === 1 ? [outcome] : undefined
    outcomes.push(outcome)
  }
  command(writer, 'commit')
  return outcomes
}

function runStep(writer: SqliteConnection, step: StatementList): StatementResult[] {
  command(writer, 'savepoint step')
  try {
    const results = runAll(writer, step)
    command(writer, 'release step')
    return results
  } catch (error) {
    if (writer.isTransaction()) {
      command(writer, 'rollback to step')
      command(writer, 'release step')
    }
    throw error
  }
}

export function runAll(connection: SqliteConnection, step: StatementList): StatementResult[] {
  return step.map((statement, index) => {
    const result = connection.run(statement)
    assertExpectedRows(statement, index, result)
    return result
  })
}

export function rollback(writer: SqliteConnection): void {
  if (writer.isTransaction()) command(writer, 'rollback')
}

export function command(connection: SqliteConnection, sql: string): void {
  connection.run({ sql })
}

function attempt(run: () => StatementResult[]): StepOutcome {
  try {
    return { results: run() }
  } catch (error) {
    return { failure: toFailure(error) }
  }
}

export function toFailure(error: unknown): Failure {
  if (error instanceof UnexpectedRows) return { statement: error.statement, changed: error.changed }
  const { reason, message } = fromSqlite(error)
  return { reason, message }
}
