import assert from 'node:assert/strict'
import { it } from 'node:test'
import { countAll } from './count.ts'

it('counts no more than it may of all texts together, and takes the rest by its length', () => {
  const word = 'hello '
  assert.equal(countAll([word, word, word]), 6)
  assert.equal(countAll([word, word, word], 12), 4 + Math.ceil(6 / 3.5))
  assert.equal(countAll([word.repeat(3)], 12), countAll([word.repeat(2)]) + Math.ceil(6 / 3.5))
})
