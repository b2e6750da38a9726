import { Fault } from '../../../base/fault.ts'
import { DatabaseError, type Database } from './database.ts'

/** The same database, whose outages are Faults: a caller then learns that nothing was changed and when to come again. */
export function faulting(database: Database): Database {
  return {
    engine: database.engine,
    read: (sql, params) => database.read<never>(sql, params).catch(rethrow),
    write: (statements) => database.write(statements).catch(rethrow),
    transaction: (work) => database.transaction(work).catch(rethrow),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

function rethrow(cause: unknown): never {
  if (cause instanceof DatabaseError && cause.reason === 'unavailable') {
    throw new Fault('unavailable', 'storage_unavailable', 'The database cannot be reached.', {
      retryAfterSeconds: 2,
      cause,
    })
  }
  if (cause instanceof DatabaseError && cause.reason === 'full') {
    throw new Fault('unavailable', 'storage_full', 'The disk of the database is full.', {
      retryAfterSeconds: 30,
      cause,
    })
  }
  throw cause
}
