import assert from 'node:assert/strict'
import { it } from 'node:test'
import { marksWithin } from './marks.ts'

it('a mark that crosses the border of a part is cut there', () => {
  const marks = [
    { kind: 'phrase', name: 'a', start: 0, end: 2 },
    { kind: 'phrase', name: 'b', start: 4, end: 8 },
  ]
  assert.deepEqual(
    marksWithin(marks, 0, 6).map(({ name, start, end }) => [name, start, end]),
    [
      ['a', 0, 2],
      ['b', 4, 6],
    ],
  )
  assert.deepEqual(
    marksWithin(marks, 6, 10).map(({ name, start, end }) => [name, start, end]),
    [['b', 0, 2]],
  )
})
