/**
 * The port to the database: three methods, two engines. SQL is written once, with `$1` parameters, in the
 * common part of SQLite and PostgreSQL: integers for time and money, JSON as text, `on conflict`, `returning`.
 */
export type Database = AsyncDisposable & {
  readonly engine: 'sqlite' | 'postgres'

  /** Rows of one statement that changes nothing. Sees everything whose promise resolved before. */
  read<R extends DatabaseRow = DatabaseRow>(sql: string, params?: readonly Value[]): Promise<R[]>

  /**
   * Runs the statements as one atomic step: all or nothing. Resolves after they are durable.
   * Steps that arrive together share one commit, so this is the cheap way to write on the hot path.
   * A statement with `expect` that touches another number of rows undoes the step: `UnexpectedRows`.
   */
  write(statements: readonly Statement[]): Promise<StatementResult[]>

  /**
   * For changes that must look before they leap. Everything `work` does through `tx` is one transaction,
   * committed when `work` resolves and undone when it throws. Durable once resolved. Writers queue up behind
   * it on SQLite, so keep `work` free of anything but `tx`.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
}

export type Transaction = {
  query<R extends DatabaseRow = DatabaseRow>(sql: string, params?: readonly Value[]): Promise<R[]>
  /** Answers the number of rows touched. */
  run(sql: string, params?: readonly Value[]): Promise<number>
}

export type Value = string | number | bigint | Uint8Array | null
export type DatabaseRow = Record<string, Value>

export type Statement = { readonly sql: string; readonly params?: readonly Value[]; readonly expect?: number }
export type StatementResult = { readonly rows: DatabaseRow[]; readonly changed: number }

/** Why the database said no, in words that both engines share. */
export class DatabaseError extends Error {
  readonly reason: 'unique' | 'foreign_key' | 'check' | 'unavailable' | 'full' | 'other'

  constructor(reason: DatabaseError['reason'], message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DatabaseError'
    this.reason = reason
  }
}

/** A statement touched another number of rows than it said it would; its step was undone. */
export class UnexpectedRows extends Error {
  readonly statement: number
  readonly changed: number

  constructor(statement: number, changed: number) {
    super(`statement ${statement} touched ${changed} rows`)
    this.name = 'UnexpectedRows'
    this.statement = statement
    this.changed = changed
  }
}
