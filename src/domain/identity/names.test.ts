import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createNameSearch, foldName } from './names.ts'

describe('names', () => {
  const same: readonly (readonly [string, string])[] = [
    ['No leaks', '  NO LEAKS '],
    ['Größe', 'GRÖSSE'],
    ['Ünïcode', 'U\u0308nI\u0308code'],
    ['ΟΔΟΣ', 'οδος'],
    ['ＡＢＣ', 'abc'],
    ['Дом', 'ДОМ'],
  ]
  for (const [left, right] of same)
    it(`are the same: ${left} and ${right}`, () => assert.equal(foldName(left), foldName(right)))

  it('differ if a letter or an accent differs', () => {
    assert.notEqual(foldName('resume'), foldName('résumé'))
    assert.notEqual(foldName('No leaks'), foldName('No leak'))
  })

  it('are found by any part of them, in any case', () => {
    assert.equal(createNameSearch('ÖSS')?.('Die Größe'), true)
    assert.equal(createNameSearch(' eaks')?.('No LEAKS'), true)
    assert.equal(createNameSearch('100%_')?.('100% sure'), false)
    assert.equal(createNameSearch('x')?.('No leaks'), false)
    assert.equal(createNameSearch(undefined), undefined)
  })
})
