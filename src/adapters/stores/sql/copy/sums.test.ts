import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import type { CopyTable } from './table.ts'
import { differenceOf, sumsQuery } from './sums.ts'

const table: CopyTable = {
  name: 'account',
  references: [],
  order: ['rowid'],
  columns: [
    { name: 'name', type: 'TEXT' },
    { name: 'amount', type: 'INTEGER' },
  ],
}

function sumsWith(rows: string) {
  using database = new DatabaseSync(':memory:')
  database.exec(`create table account (name TEXT, amount INTEGER) STRICT; insert into account values ${rows}`)
  return Object.values(database.prepare(sumsQuery(table)).get() ?? {}).map(String)
}

describe('the sums of a table', () => {
  it('are equal for the same rows in another order', () => {
    assert.equal(differenceOf(table, sumsWith(`('a', 1), (null, 2)`), sumsWith(`(null, 2), ('a', 1)`)), undefined)
  })

  it('name what differs: rows, null, a number, the length of a text', () => {
    const before = sumsWith(`('é', -1)`)
    assert.match(differenceOf(table, before, sumsWith(`('é', -1), ('é', -1)`)) ?? '', /^number of rows: 1 .* 2 /)
    assert.match(differenceOf(table, before, sumsWith(`(null, -1)`)) ?? '', /^number of values in name: /)
    assert.match(differenceOf(table, before, sumsWith(`('é', -2)`)) ?? '', /^sum of amount: /)
    assert.match(differenceOf(table, before, sumsWith(`('e', -1)`)) ?? '', /^sum of the lengths of name: 2 .* 1 /)
  })

  it('of integers whose sum exceeds 64 bits are exact', () => {
    const largest = '9223372036854775807'
    const [one, other] = [sumsWith(`('', ${largest}), ('', ${largest})`), sumsWith(`('', ${largest}), ('', 5)`)]
    assert.match(differenceOf(table, one, other) ?? '', /^sum of amount: /)
  })
})
