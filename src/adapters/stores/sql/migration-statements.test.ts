import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toStatements } from './migration-statements.ts'

describe('the statements of a migration', () => {
  it('are split at semicolons, without comments and empty statements', () => {
    const sql = `-- first; not a statement\ncreate table a (id TEXT); /* and; neither */;\n\ninsert into a (id) values ('x;y--z''')\n`
    assert.deepEqual(toStatements(sql, 'sqlite'), [
      'create table a (id TEXT)',
      `insert into a (id) values ('x;y--z''')`,
    ])
  })

  it('use PostgreSQL’s names for types', () => {
    const sql = 'create table a (id TEXT primary key, n INTEGER, b BLOB, r REAL) STRICT'
    assert.deepEqual(toStatements(sql, 'postgres'), [
      'create table a (id text primary key, n bigint, b bytea, r double precision)',
    ])
    assert.deepEqual(toStatements(sql, 'sqlite'), [sql])
    const clustered = 'create table a (id TEXT primary key) STRICT, WITHOUT ROWID'
    assert.deepEqual(toStatements(clustered, 'postgres'), ['create table a (id text primary key)'])
    assert.deepEqual(toStatements(clustered, 'sqlite'), [clustered])
  })

  it('keep strings, quoted names and lower-case words', () => {
    const sql = `insert into "TEXT" (integer_count, b) values ('BLOB' || 'it''s REAL', 4 - 2 / 1)`
    assert.deepEqual(toStatements(sql, 'postgres'), [sql])
  })

  it('leave out those of the other engine', () => {
    const sql =
      'select 1;\n-- engine: postgres\nselect 2; -- Why.\nselect 3;\n-- engine: sqlite\nselect 4;\n-- engine: both\nselect 5'
    assert.deepEqual(toStatements(sql, 'postgres'), ['select 1', 'select 2', 'select 3', 'select 5'])
    assert.deepEqual(toStatements(sql, 'sqlite'), ['select 1', 'select 4', 'select 5'])
  })

  it('keep a text in dollars, with its semicolons and words in capitals', () => {
    const sql = "do $$ begin perform 'TEXT'; end $$; select $body$ REAL; $$ $body$, $1"
    assert.deepEqual(toStatements(sql, 'postgres'), [
      "do $$ begin perform 'TEXT'; end $$",
      'select $body$ REAL; $$ $body$, $1',
    ])
  })
})
