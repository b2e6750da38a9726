import { Fault } from '../../../base/fault.ts'
import type { StorageObserver } from '../../../base/storage-health.ts'
import { DatabaseError, type Database, type Transaction } from './database.ts'
import { inTwoParts } from './transaction.ts'

const unobserved: StorageObserver = { failed() {}, written() {} }

/** Maps outages of the database to Faults, which tell the caller that nothing was changed and when to retry. */
export function withErrorMapping(database: Database, observer = unobserved): Database {
  const rethrow = (error: unknown, tryAgain?: () => Promise<boolean>): never => {
    const fault = faultOf(error)
    if (fault === undefined) throw error
    if (fault.code === 'storage_rejected' && tryAgain) observer.rejected?.(fault, tryAgain)
    else if (!isTimeout(error)) observer.failed(fault)
    throw fault
  }
  const reportWritten = <T>(value: T): T => {
    observer.written()
    return value
  }
  const write: Database['write'] = (statements, options) =>
    database.write(statements, options).then(reportWritten, (error: unknown) =>
      rethrow(error, () =>
        isAccepted(database, async (tx) => {
          for (const { sql, params } of statements) await tx.query(sql, params)
        }),
      ),
    )
  return {
    engine: database.engine,
    read: (sql, params) => database.read<never>(sql, params).catch((error: unknown) => rethrow(error)),
    // A report says nothing about the health of the storage: it may be slow, or its replica may be down.
    report: (sql, params) =>
      database.report<never>(sql, params).catch((error: unknown) => {
        throw error instanceof DatabaseError ? mapReportError(error) : error
      }),
    write,
    writeAfter: (first, next) =>
      database
        .writeAfter(first, next)
        .then(reportWritten, (error: unknown) => rethrow(error, () => isAccepted(database, inTwoParts(first, next)))),
    transaction: (work) =>
      database
        .transaction(work)
        .then(reportWritten, (error: unknown) => rethrow(error, () => isAccepted(database, work))),
    figures: () => database.figures(),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

/** The Fault of an outage; other errors stay as they are. */
export const mapError = (error: DatabaseError): Error => faultOf(error) ?? error

/** The same for a report. One that takes too long says what to narrow. */
export const mapReportError = (error: DatabaseError): Error =>
  isTimeout(error) ? reportTimeout(error) : mapError(error)

const rollback = new Error('this attempt is rolled back')

/** Tries a rejected write again and rolls it back. Any other failure, such as a conflict, shows that it is accepted again. */
async function isAccepted(database: Database, work: (tx: Transaction) => Promise<unknown>): Promise<boolean> {
  try {
    await database.transaction(async (tx) => {
      await work(tx)
      throw rollback
    })
    return true
  } catch (error) {
    return error === rollback || faultOf(error) === undefined
  }
}

const isTimeout = (error: unknown): boolean => error instanceof DatabaseError && error.reason === 'timeout'

const reportTimeout = (cause: unknown): Fault =>
  new Fault(
    'unavailable',
    'report_timeout',
    'The report takes too long. Narrow it: a shorter period, fewer groups, or a filter.',
    { retryAfterSeconds: 30, cause },
  )

function faultOf(cause: unknown): Fault | undefined {
  if (!(cause instanceof DatabaseError)) return undefined
  if (cause.reason === 'unavailable')
    return new Fault('unavailable', 'storage_unavailable', 'The database cannot be reached.', {
      retryAfterSeconds: 2,
      cause,
    })
  if (cause.reason === 'timeout')
    return new Fault('unavailable', 'storage_unavailable', 'The database did not finish a statement in time.', {
      retryAfterSeconds: 2,
      cause,
    })
  if (cause.reason === 'full')
    return new Fault('unavailable', 'storage_full', 'The disk of the database is full.', {
      retryAfterSeconds: 30,
      cause,
    })
  if (cause.reason === 'locked')
    return new Fault('unavailable', 'storage_locked', 'Another transaction of the database locks the same rows.', {
      retryAfterSeconds: 2,
      cause,
    })
  if (cause.reason === 'rejected')
    return new Fault('unavailable', 'storage_rejected', 'The database rejects writes.', {
      retryAfterSeconds: 30,
      cause,
    })
  return undefined
}
