import { UnexpectedRows, type Statement, type StatementResult } from './database.ts'

/** Throws when the statement at `index` of a step touched another number of rows than it said it would. */
export function assertExpectedRows({ expect }: Statement, index: number, { changed }: StatementResult): void {
  if (expect !== undefined && expect !== changed) throw new UnexpectedRows(index, changed)
}
