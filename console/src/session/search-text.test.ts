import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { searchText } from './search-text.ts'

describe('a text in the address', () => {
  it('is kept', () => assert.equal(searchText('heron'), 'heron'))
  it('is read from a number, as which the router reads digits', () => assert.equal(searchText(8080), '8080'))
  for (const value of ['', undefined, null, true, ['a'], { a: 1 }])
    it(`is none if it is ${JSON.stringify(value)}`, () => assert.equal(searchText(value), undefined))
})
