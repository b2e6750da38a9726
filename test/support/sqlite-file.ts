import { DatabaseSync } from 'node:sqlite'

/**
 * Executes statements in the file of an app that runs in this process. It tries in short turns, because
 * a transaction that this thread began ends only while this thread runs.
 */
export async function executeInFile(path: string, ...statements: readonly string[]): Promise<void> {
  using database = new DatabaseSync(path, { timeout: 10 })
  for (const statement of statements) {
    for (let turn = 0; !isExecuted(database, statement, turn); turn++) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

const maxTurns = 500

function isExecuted(database: DatabaseSync, statement: string, turn: number): boolean {
  try {
    database.exec(statement)
    return true
  } catch (error) {
    if (turn < maxTurns && /locked/.test(String(error))) return false
    throw error
  }
}
