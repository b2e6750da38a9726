import { Fault } from '../../../base/fault.ts'
import type { StorageObserver } from '../../../base/storage-health.ts'
import { DatabaseError, type Database } from './database.ts'

const unobserved: StorageObserver = { failed() {}, written() {} }

/** Maps outages of the database to Faults, which tell the caller that nothing was changed and when to retry. */
export function withErrorMapping(database: Database, observer = unobserved): Database {
  const rethrow = (error: unknown): never => {
    const fault = faultOf(error)
    if (fault === undefined) throw error
    observer.failed(fault)
    throw fault
  }
  const reportWritten = <T>(value: T): T => {
    observer.written()
    return value
  }
  return {
    engine: database.engine,
    read: (sql, params) => database.read<never>(sql, params).catch(rethrow),
    write: (statements, options) => database.write(statements, options).then(reportWritten, rethrow),
    transaction: (work) => database.transaction(work).then(reportWritten, rethrow),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

function faultOf(cause: unknown): Fault | undefined {
  if (!(cause instanceof DatabaseError)) return undefined
  if (cause.reason === 'unavailable')
    return new Fault('unavailable', 'storage_unavailable', 'The database cannot be reached.', {
      retryAfterSeconds: 2,
      cause,
    })
  if (cause.reason === 'full')
    return new Fault('unavailable', 'storage_full', 'The disk of the database is full.', {
      retryAfterSeconds: 30,
      cause,
    })
  return undefined
}
