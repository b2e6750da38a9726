import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { createJsonEnd } from './json-end.ts'

it('finds the end of any object at its last character, however the text is cut', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.nat(40), { maxLength: 8 }), (value, cuts) => {
      const text = JSON.stringify(value)
      const end = createJsonEnd()
      let at = 0
      for (const cut of cuts) {
        at = Math.min(text.length - 1, at + cut)
        assert.equal(end.isAt(text.slice(0, at)), false)
      }
      assert.equal(end.isAt(text), true)
      assert.equal(end.isAt(`${text} \n`), true)
      assert.equal(end.isAt(`${text} \n{`), false)
    }),
  )
})

it('finds no end in a text that is not an object', () => {
  for (const text of ['', ' ', '"}"', '12', 'null', '}', '{}{}']) assert.equal(createJsonEnd().isAt(text), false, text)
})
