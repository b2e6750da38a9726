import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { attachedText } from './attached.ts'

const read = (...file: readonly (string | number)[]): string | undefined =>
  attachedText(
    Buffer.concat(file.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part])))).toString(
      'base64',
    ),
  )

describe('a file', () => {
  it('is a text whatever else stands in it', () => {
    assert.equal(read('für ada'), 'für ada')
    assert.equal(read('the falcon flies', 0xff, ' at noon'), 'the falcon flies\ufffd at noon')
    assert.equal(read('the falcon flies', 0, ' at noon'), 'the falcon flies\0 at noon')
    assert.equal(read('of a falcon.pdf: %PDF-1.7'), 'of a falcon.pdf: %PDF-1.7')
    assert.equal(read('雪'.repeat(3_000)), '雪'.repeat(3_000))
  })

  it('is none where it is a picture or a PDF', () => {
    assert.equal(read(0x89, 'PNG\r\n', 0x1a, '\n', 0, 0, 0, 13, 'IHDR'), undefined)
    assert.equal(read('%PDF-1.7\n1 0 obj'), undefined)
  })
})
