import { DatabaseError } from './database.ts'

type Reason = DatabaseError['reason']

const sqliteExtendedReasons: Readonly<Record<number, Reason>> = {
  275: 'check',
  787: 'foreign_key',
  1299: 'check', // not null
  1555: 'unique', // primary key
  1811: 'rejected', // a trigger; Gatehouse creates none
  2067: 'unique',
}

const sqliteReasons: Readonly<Record<number, Reason>> = {
  3: 'rejected', // no permission
  5: 'unavailable', // busy
  6: 'unavailable', // locked
  8: 'rejected', // read-only
  10: 'unavailable', // input or output error
  11: 'unavailable', // corrupt
  13: 'full',
  14: 'unavailable', // cannot open
  23: 'rejected', // not authorized
  26: 'unavailable', // not a database
}

/** Maps an error of node:sqlite to an error of the port. */
export function fromSqlite(error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error
  const code = propertyOf(error, 'errcode')
  const known = typeof code === 'number' ? (sqliteExtendedReasons[code] ?? sqliteReasons[code & 0xff]) : undefined
  const reason = known ?? (messageOf(error).startsWith('no such table') ? 'rejected' : 'other')
  return new DatabaseError(reason, messageOf(error), error)
}

/** Whether another connection holds the lock. */
export const isSqliteBusy = (error: unknown): boolean => propertyOf(error, 'errcode') === 5

const postgresReasons: Readonly<Record<string, Reason>> = {
  '23502': 'check', // not null
  '23503': 'foreign_key',
  '23505': 'unique',
  '23514': 'check',
  '25006': 'rejected', // read-only, as on a standby
  '3D000': 'unavailable', // the server runs but the database is missing, as during a restore
  '40001': 'unavailable', // serialization failure
  '40P01': 'unavailable', // deadlock
  '42501': 'rejected', // no permission
  '42P01': 'rejected', // no such table
  '53100': 'full',
  '53200': 'unavailable', // out of memory
  '53300': 'unavailable', // too many connections
  '53400': 'unavailable', // configuration limit
  '55P03': 'locked', // lock not available
  '57014': 'timeout', // cancelled, usually by the statement timeout
  '58030': 'unavailable', // input or output error
  XX001: 'rejected', // a damaged table
  XX002: 'rejected', // a damaged index
}

/** States of an unavailable server: lost connections, operator intervention, missing database. */
const unavailableClass = /^(08|57P|3D000)/

/** Maps an error of `pg` to an error of the port. Errors that do not come from the server count as a failed connection. */
export function fromPostgres(error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error
  const state = sqlStateOf(error)
  const reason =
    state === undefined || unavailableClass.test(state) ? 'unavailable' : (postgresReasons[state] ?? 'other')
  return new DatabaseError(reason, messageOf(error), error)
}

/** Whether the connection broke during a statement, so that another connection may succeed at once. */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlStateOf(error)
  if (state !== undefined) return unavailableClass.test(state)
  return ['ECONNRESET', 'EPIPE'].includes(String(propertyOf(error, 'code'))) || lostMessages.has(messageOf(error))
}

/** Errors to which `pg` gives no code. */
const lostMessages = new Set([
  'Connection terminated unexpectedly',
  'Client has encountered a connection error and is not queryable',
])

/** Whether the server rolled the transaction back in favour of another one, so that a retry is safe. */
export const isUndoneByServer = (error: unknown): boolean => ['40001', '40P01'].includes(sqlStateOf(error) ?? '')

/** Only errors of the server have a severity. Network errors also have a code, such as EPIPE. */
function sqlStateOf(error: unknown): string | undefined {
  const code = propertyOf(error, 'code')
  return typeof code === 'string' && propertyOf(error, 'severity') !== undefined ? code : undefined
}

function propertyOf(error: unknown, name: string): unknown {
  return typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
