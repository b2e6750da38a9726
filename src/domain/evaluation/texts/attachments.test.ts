import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { attachmentText, changeText, textIn } from './attachments.ts'

const read = (...file: readonly (string | number)[]): string | undefined =>
  attachmentText(
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

/** Bytes that look random: those of any picture that is packed, of a signature and of a ciphertext. */
const noise = fc.uint8Array({ minLength: 64, maxLength: 6_000, size: 'max' }).map((seed) => {
  let state = seed.reduce((sum, byte) => (sum * 31 + byte + 1) >>> 0, 7)
  return Buffer.from(seed.map(() => ((state = (state * 1_664_525 + 1_013_904_223) >>> 0) >>> 24) & 255))
})

describe('a string', () => {
  it('is data where it is base64 of no text, and stays as it is', () => {
    const spelled = fc.constantFrom<(bytes: Buffer) => string>(
      (bytes) => bytes.toString('base64'),
      (bytes) => bytes.toString('base64url'),
      (bytes) => `data:image/png;base64,${bytes.toString('base64')}`,
    )
    let count = 0
    let wordy = 0
    fc.assert(
      fc.property(noise, spelled, (bytes, spell) => {
        count += 1
        if (textIn(spell(bytes)) !== undefined) wordy += 1
        else
          assert.equal(
            changeText(spell(bytes), () => assert.fail()),
            spell(bytes),
          )
      }),
    )
    // Now and then, random letters look like words. They are read then, which does no harm.
    assert.ok(wordy <= count * 0.05, `${wordy} of ${count}`)
  })

  it('is text where it reads as text, with or without spaces', () => {
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
    const said = fc.tuple(fc.array(words, { minLength: 1, maxLength: 60 }), fc.constantFrom(' ', '\n', '. '))
    fc.assert(
      fc.property(said, ([list, between]) => {
        assert.equal(textIn(list.join(between)), list.join(between))
      }),
    )
    for (const between of ['-', '_', '/', '+', ''])
      for (const spell of [(word: string) => word, (word: string) => word.toUpperCase()]) {
        const text = Array.from({ length: 8 }, () => spell(`i${between}want${between}to${between}go`)).join(between)
        assert.equal(textIn(text), text)
      }
  })

  it('is read as what it encodes where that is a text', () => {
    const text = 'One day the falcon will fly over all of us, and then it will be over. '.repeat(3)
    const base64 = Buffer.from(text).toString('base64')
    for (const spelled of [
      base64,
      Buffer.from(text).toString('base64url'),
      `data:text/plain;base64,${base64}`,
      `x${base64}`,
    ])
      assert.match(textIn(spelled) ?? '', /the falcon will fly/)
    assert.match(textIn(`data:image/the-falcon;base64,${Buffer.alloc(99, 7).toString('base64')}`) ?? '', /falcon/)
    // What stands in hexadecimal is found where texts are screened.
    const hex = Buffer.from(text).toString('hex')
    assert.equal(textIn(hex), hex)
  })
})
