import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { lineDiff } from './line-diff.ts'

const shown = (before: string[], after: string[]): string[] =>
  lineDiff(before, after).map(({ kind, text }) => `${{ same: ' ', added: '+', removed: '-' }[kind]}${text}`)

describe('the difference of two lists of lines', () => {
  it('marks a changed line as removed and then added', () =>
    assert.deepEqual(shown(['a', 'b', 'c'], ['a', 'x', 'c']), [' a', '-b', '+x', ' c']))
  it('keeps as many lines as possible', () =>
    assert.deepEqual(shown(['a', 'b', 'c', 'd'], ['b', 'd', 'a']), ['-a', ' b', '-c', ' d', '+a']))
  it('keeps empty lines and repeated lines apart', () =>
    assert.deepEqual(shown(['', 'a', ''], ['', '', 'a']), [' ', '-a', ' ', '+a']))
  it('is empty for two empty lists, and everything is added to an empty one', () => {
    assert.deepEqual(shown([], []), [])
    assert.deepEqual(shown([], ['a', 'b']), ['+a', '+b'])
  })
})
