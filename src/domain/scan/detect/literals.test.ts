import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compileLiterals, foldLiteral } from './literals.ts'

const beyondAscii = /[^\0-\x7f]/g

describe('the form in which literals are searched', () => {
  it('has the ASCII letters of the lower and upper case of every character', () => {
    for (let code = 0; code <= 0x1ffff; code++) {
      const letter = String.fromCodePoint(code)
      for (const cased of [letter.toLowerCase(), letter.toUpperCase()]) {
        const ascii = cased.replace(beyondAscii, '').toLowerCase()
        if (ascii !== '') assert.equal(foldLiteral(letter), ascii, `U+${code.toString(16)}`)
      }
    }
  })

  it('keeps every other character as it is', () => {
    assert.equal(foldLiteral('Naïve ÀΣ 😀'), 'naïve ÀΣ 😀')
  })
})

describe('literals in a streamed text', () => {
  it('are found where they end, and pending before', () => {
    const detector = compileLiterals(['falcon', 'straße'].map(foldLiteral)).startDetector()
    detector.push('a Fal')
    assert.deepEqual([detector.matched(), detector.settledTo()], [0, 2])
    detector.push('CON, stra')
    assert.deepEqual([detector.matched(), detector.settledTo()], [1, 10])
    detector.push('ß')
    assert.deepEqual([detector.matched(), detector.settledTo()], [1, 10])
    detector.push('e')
    assert.deepEqual([...(detector.end() ?? [])], [0, 1])
  })
})
