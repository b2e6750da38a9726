import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { attachmentText, changeText, textOfField } from './attachments.ts'

const textOf = (...file: readonly (string | number)[]): string | undefined =>
  attachmentText(
    Buffer.concat(file.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part])))).toString(
      'base64',
    ),
  )

describe('an attached file', () => {
  it('is text even with invalid bytes in it', () => {
    assert.equal(textOf('für ada'), 'für ada')
    assert.equal(textOf('the falcon flies', 0xff, ' at noon'), 'the falcon flies\ufffd at noon')
    assert.equal(textOf('the falcon flies', 0, ' at noon'), 'the falcon flies\0 at noon')
    assert.equal(textOf('of a falcon.pdf: %PDF-1.7'), 'of a falcon.pdf: %PDF-1.7')
    assert.equal(textOf('雪'.repeat(3_000)), '雪'.repeat(3_000))
  })

  it('is no text if it is an image or a PDF', () => {
    assert.equal(textOf(0x89, 'PNG\r\n', 0x1a, '\n', 0, 0, 0, 13, 'IHDR'), undefined)
    assert.equal(textOf('%PDF-1.7\n1 0 obj'), undefined)
  })
})

/** Bytes that look random, as those of compressed images, signatures and ciphertexts do. */
const noise = fc.uint8Array({ minLength: 64, maxLength: 6_000, size: 'max' }).map((seed) => {
  let state = seed.reduce((sum, byte) => (sum * 31 + byte + 1) >>> 0, 7)
  return Buffer.from(seed.map(() => ((state = (state * 1_664_525 + 1_013_904_223) >>> 0) >>> 24) & 255))
})

describe('a string field', () => {
  it('is data if it is base64 of no text, and stays unchanged', () => {
    const encodings = fc.constantFrom<(bytes: Buffer) => string>(
      (bytes) => bytes.toString('base64'),
      (bytes) => bytes.toString('base64url'),
      (bytes) => `data:image/png;base64,${bytes.toString('base64')}`,
    )
    let count = 0
    let mistaken = 0
    fc.assert(
      fc.property(noise, encodings, (bytes, encode) => {
        count += 1
        if (textOfField(encode(bytes)) !== undefined) mistaken += 1
        else
          assert.equal(
            changeText(encode(bytes), () => assert.fail()),
            encode(bytes),
          )
      }),
    )
    // Occasionally random letters look like words. They are then scanned as text, which does no harm.
    assert.ok(mistaken <= count * 0.05, `${mistaken} of ${count}`)
  })

  it('is text if it consists of words, with or without spaces', () => {
    const words = fc.constantFrom(
      'i',
      'want',
      'to',
      'be',
      'gone',
      'tonight',
      'AND',
      'Nobody',
      'cares',
      '2',
      'für',
      '雪',
    )
    const sentences = fc.tuple(fc.array(words, { minLength: 1, maxLength: 60 }), fc.constantFrom(' ', '\n', '. '))
    fc.assert(
      fc.property(sentences, ([list, between]) => {
        assert.equal(textOfField(list.join(between)), list.join(between))
      }),
    )
    for (const between of ['-', '_', '/', '+', ''])
      for (const casing of [(word: string) => word, (word: string) => word.toUpperCase()]) {
        const text = Array.from({ length: 8 }, () => casing(`i${between}want${between}to${between}go`)).join(between)
        assert.equal(textOfField(text), text)
      }
  })

  it('is decoded if it encodes text', () => {
    const text = 'One day the falcon will fly over all of us, and then it will be over. '.repeat(3)
    const base64 = Buffer.from(text).toString('base64')
    for (const encoded of [
      base64,
      Buffer.from(text).toString('base64url'),
      `data:text/plain;base64,${base64}`,
      `x${base64}`,
    ])
      assert.match(textOfField(encoded) ?? '', /the falcon will fly/)
    assert.match(textOfField(`data:image/the-falcon;base64,${Buffer.alloc(99, 7).toString('base64')}`) ?? '', /falcon/)
    // Hexadecimal text is decoded later, by the scan.
    const hex = Buffer.from(text).toString('hex')
    assert.equal(textOfField(hex), hex)
  })
})
