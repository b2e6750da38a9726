import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { hashWord } from '../embedded/hashing.ts'
import { createVocabulary } from '../embedded/unmask.ts'
import { readableText } from './readable-text.ts'

const vocabulary = createVocabulary(Uint32Array.from(['i', 'hate', 'this', 'cool', 'so', '00', '0'], hashWord))
const read = (text: string): string => readableText(text, vocabulary)

describe('the text that the encoder reads', () => {
  it('is plain text in lower case, with its punctuation and numbers', () => {
    assert.equal(read('Meet me at 16:30, room 4: I am 15!'), 'meet me at 16:30, room 4: i am 15!')
  })
  it('has the words behind leetspeak and stretched letters', () => {
    assert.equal(read('i h4te this, it is sooooo c00l'), 'i hate this, it is so cool')
  })
  it('has the words behind letters written one by one', () => {
    assert.equal(read('i h a t e t h i s, really'), 'i hate this, really')
    assert.equal(read('h.a.t.e this'), 'hate this')
  })
  it('has Latin letters for homoglyphs, and leaves other scripts as they are', () => {
    assert.equal(read('I hаtе this'), 'i hate this')
    assert.equal(read('Привет, мир'), 'привет, мир')
  })
  it('keeps identifiers, addresses and numbers that hide no word', () => {
    const text = 'user4@example.com v1.2.3 x86_64 0x1f $100 c++ 10!'
    assert.equal(read(text), text)
  })
  it('has spaces for emoji, other symbols and invisible characters, so that they are in no word', () => {
    for (const symbol of ['\u{1f62d}', '→', '♥', '°', '€', '\u2800', '\ue000', '\u0000', '\u007f', '\u0085'])
      assert.equal(
        read(`i${symbol}hate${symbol}${symbol}this${symbol}`).trim().split(/\s+/).join(' '),
        'i hate this',
        symbol,
      )
    assert.equal(read('a + b = c ^ d | ~e $1 <p>'), 'a + b = c ^ d | ~e $1 <p>')
  })
  it('has only the beginning of a long run of punctuation', () => {
    assert.ok(read(`i hate this ${'! ? . '.repeat(400)} really`).length < 40)
    assert.equal(read('what?! ... (really)'), 'what?! ... (really)')
  })
  it('changes nothing when it is read again', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('h4te', 'sooo', 'plain', '15', 'héllo', '?', 'c00l', '\n'), { maxLength: 20 }),
        (words) => {
          const once = read(words.join(' '))
          assert.equal(read(once), once)
        },
      ),
    )
  })
})
