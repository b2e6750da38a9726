import assert from 'node:assert/strict'
import test from 'node:test'
import { DatabaseError } from './database.ts'
import { fromPostgres, fromSqlite, isConnectionLost } from './errors.ts'

const sqliteError = (errcode: number) => Object.assign(new Error('no'), { code: 'ERR_SQLITE_ERROR', errcode })
const postgresError = (code: string) => Object.assign(new Error('no'), { code, severity: 'ERROR' })
const networkError = (code: string) => Object.assign(new Error('no'), { code, syscall: 'write' })

test('SQLite’s codes are mapped to reasons, extended ones by their base code if they have none', () => {
  const reasons: Record<number, DatabaseError['reason']> = {
    1: 'other',
    5: 'unavailable',
    8: 'rejected',
    10: 'unavailable',
    13: 'full',
    20: 'other',
    275: 'check',
    517: 'unavailable', // busy: the snapshot is too old
    778: 'unavailable', // input or output: write
    787: 'foreign_key',
    1032: 'rejected', // read-only: the file was moved
    1555: 'unique',
    1811: 'rejected', // a trigger
    2067: 'unique',
    3091: 'other', // a value of the wrong type
  }
  for (const [code, reason] of Object.entries(reasons)) {
    assert.equal(fromSqlite(sqliteError(Number(code))).reason, reason, code)
  }
})

test('PostgreSQL’s states are mapped to reasons', () => {
  const reasons: Record<string, DatabaseError['reason']> = {
    '08006': 'unavailable',
    '22P02': 'other',
    '23502': 'check',
    '23503': 'foreign_key',
    '23505': 'unique',
    '23514': 'check',
    '40P01': 'unavailable',
    '25006': 'rejected', // read-only
    '42501': 'rejected', // no permission
    '42P01': 'rejected', // no such table
    '42601': 'other',
    '53100': 'full',
    '53300': 'unavailable',
    '55P03': 'locked',
    '57014': 'timeout',
    '57P01': 'unavailable',
    XX000: 'other',
  }
  for (const [state, reason] of Object.entries(reasons)) {
    assert.equal(fromPostgres(postgresError(state)).reason, reason, state)
  }
})

test('an error that does not come from the server is a failed connection', () => {
  assert.equal(fromPostgres(networkError('EPIPE')).reason, 'unavailable')
  assert.equal(fromPostgres(new Error('timeout exceeded when trying to connect')).reason, 'unavailable')
})

test('an error of the port is returned unchanged, and others become the cause', () => {
  const known = new DatabaseError('full', 'no space')
  const cause = postgresError('23505')
  assert.equal(fromSqlite(known), known)
  assert.equal(fromPostgres(known), known)
  assert.equal(fromPostgres(cause).cause, cause)
})

test('a connection is lost if it broke during a statement, not if there was none', () => {
  assert.ok(isConnectionLost(networkError('ECONNRESET')))
  assert.ok(isConnectionLost(postgresError('57P01')))
  assert.ok(isConnectionLost(new Error('Connection terminated unexpectedly')))
  assert.ok(!isConnectionLost(networkError('ECONNREFUSED')))
  assert.ok(!isConnectionLost(new Error('timeout exceeded when trying to connect')))
  assert.ok(!isConnectionLost(new Error('Query read timeout')))
  assert.ok(!isConnectionLost(postgresError('23505')))
})
