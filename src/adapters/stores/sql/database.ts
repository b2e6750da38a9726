/**
 * The port to the database: a few methods, two engines. SQL is written once, with `$1` parameters, in the common subset of
 * SQLite and PostgreSQL: integers for time and money, JSON as text, `on conflict`, `returning`.
 */
export type Database = AsyncDisposable & {
  readonly engine: 'sqlite' | 'postgres'

  /** Rows of one read-only statement. It sees every write whose promise resolved before. */
  read<R extends DatabaseRow = DatabaseRow>(sql: string, params?: readonly Value[]): Promise<R[]>

  /**
   * The same for reports and lists, which may take seconds. It delays no `read` and no write. After its deadline it rejects with the
   * reason `timeout`. If reports have a replica of their own, they may miss the last writes.
   */
  report<R extends DatabaseRow = DatabaseRow>(sql: string, params?: readonly Value[]): Promise<R[]>

  /**
   * Runs the statements as one atomic step, and resolves once they are durable. Steps that arrive together share one commit,
   * so this is the cheap way to write on the hot path. If a statement with `expect` changes another number of rows, the
   * step is rolled back and rejects with `UnexpectedRows`.
   */
  write(statements: readonly Statement[], options?: WriteOptions): Promise<StatementResult[]>

  /**
   * One atomic step in two parts: `next` makes the second from the rows of the last statement of the first. Durable once resolved.
   * PostgreSQL gets each part in one round trip with its `begin` or `commit`, so what `first` locks is locked for one turn of the
   * event loop. What `next` throws rolls the step back. It is called again if the server rolled the step back because of a deadlock.
   */
  writeAfter<R extends DatabaseRow = DatabaseRow>(first: readonly Unguarded[], next: MakeStatements<R>): Promise<void>

  /**
   * For changes that must read before they write. Everything that `work` does through `tx` is one transaction, committed when
   * `work` resolves and rolled back when it throws. Durable once resolved. On SQLite all other writers wait for it, so
   * `work` must not await anything but `tx`.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>

  figures(): DatabaseFigures
}

/** What an engine does now, and what it has done since it was opened. */
export type DatabaseFigures = {
  /** `read`, writes and transactions: on SQLite the calls of the storage thread, on PostgreSQL connections in use and callers without one. */
  readonly requests: CallFigures
  readonly reports: CallFigures & { readonly timedOut: number }
  /** Writes that are durable, and the time from their calls until then. */
  readonly writes: { readonly count: number; readonly totalMs: number }
}

export type CallFigures = { readonly running: number; readonly waiting: number }

export type WriteOptions = {
  /**
   * False for counts that may lose a second: the step is on the disk within a second after its promise resolved. A crash of the
   * process does not undo it, but a loss of power may. An engine may wait for the disk nevertheless.
   */
  readonly waitsForDisk?: boolean
}

export type Transaction = {
  query<R extends DatabaseRow = DatabaseRow>(sql: string, params?: readonly Value[]): Promise<R[]>
  /** Returns the number of changed rows. */
  run(sql: string, params?: readonly Value[]): Promise<number>
}

export type Value = string | number | bigint | Uint8Array | null
export type DatabaseRow = Record<string, Value>

export type Statement = {
  readonly sql: string
  readonly params?: readonly Value[]
  readonly expect?: number
  /** PostgreSQL parses and plans a statement with a name once per connection. SQLite does so for all. One text per name. */
  readonly name?: string
}
/** A statement that may change any number of rows. */
export type Unguarded = Omit<Statement, 'expect'>
/** The statements of a step that depend on the rows of its first part. */
export type MakeStatements<R extends DatabaseRow> = (rows: readonly R[]) => readonly Unguarded[]
export type StatementResult = { readonly rows: DatabaseRow[]; readonly changed: number }

/**
 * An error of the database, with a reason that both engines share. `rejected`: it takes no such write, whatever the values are,
 * for instance because of a lost permission. `locked`: another transaction holds its rows for too long.
 * `timeout`: the statement took too long and was ended. After `unavailable` alone it is unknown whether a write was committed.
 */
export class DatabaseError extends Error {
  readonly reason:
    | 'unique'
    | 'foreign_key'
    | 'check'
    | 'unavailable'
    | 'full'
    | 'rejected'
    | 'locked'
    | 'timeout'
    | 'other'

  constructor(reason: DatabaseError['reason'], message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DatabaseError'
    this.reason = reason
  }
}

/** A statement changed another number of rows than expected; its step was rolled back. */
export class UnexpectedRows extends Error {
  readonly statement: number
  readonly changed: number

  constructor(statement: number, changed: number) {
    super(`statement ${statement} changed ${changed} rows`)
    this.name = 'UnexpectedRows'
    this.statement = statement
    this.changed = changed
  }
}

/** Throws if the statement at `index` of a step changed another number of rows than expected. */
export function assertExpectedRows({ expect }: Statement, index: number, { changed }: StatementResult): void {
  if (expect !== undefined && expect !== changed) throw new UnexpectedRows(index, changed)
}
