import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inForeignKeyOrder } from './table-order.ts'

const table = (name: string, ...references: string[]) => ({ name, references })
const namesOf = (tables: readonly { readonly name: string }[]): string[] => tables.map(({ name }) => name)

describe('the order of tables', () => {
  it('puts a table after every table that it references', () => {
    const tables = [table('key', 'project', 'organization'), table('project', 'organization'), table('organization')]
    assert.deepEqual(namesOf(inForeignKeyOrder(tables)), ['organization', 'project', 'key'])
  })

  it('keeps the order of tables that do not reference one another', () => {
    assert.deepEqual(namesOf(inForeignKeyOrder([table('b'), table('a')])), ['b', 'a'])
  })

  it('ignores references to tables that are not copied', () => {
    assert.deepEqual(namesOf(inForeignKeyOrder([table('a', 'elsewhere')])), ['a'])
  })

  it('names the tables of a cycle', () => {
    assert.throws(() => inForeignKeyOrder([table('a', 'b'), table('b', 'a'), table('c')]), /form a cycle: a, b$/)
    assert.throws(() => inForeignKeyOrder([table('a', 'a')]), /form a cycle: a$/)
  })
})
