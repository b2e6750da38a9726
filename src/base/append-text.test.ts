import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { appendText } from './append-text.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

function heapBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

describe('a text that grows by small parts', () => {
  it('is the parts joined', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 700 })), (parts) => {
        assert.equal(parts.reduce(appendText, ''), parts.join(''))
      }),
    )
  })

  it('takes little more memory than its characters', () => {
    const texts: string[] = []
    const before = heapBytes()
    for (let at = 0; at < 100; at++) {
      let text = ''
      for (let part = 0; part < 3_000; part++) text = appendText(text, ` ${part}`)
      texts.push(text)
    }
    const characters = texts.reduce((sum, { length }) => sum + length, 0)
    assert.ok(heapBytes() - before < 3 * characters)
  })
})
