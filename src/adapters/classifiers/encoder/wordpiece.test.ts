import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createWordPiece } from './wordpiece.ts'

const pieces =
  "[PAD] [UNK] [CLS] [SEP] un unable ##believ ##able cafe the ##s ' . , # 中 国 я ##σ σ ο ##ο x ##x $ ₤ 한 i".split(' ')
const { encode, start, end } = createWordPiece(`${pieces.join('\n')}\n`)
const cut = (text: string): readonly string[] => encode(text).map((id) => pieces[id] ?? '')

describe('word pieces', () => {
  for (const [title, text, expected] of [
    [
      'words in lower case, cut at the longest piece',
      'Unbelievable THE unables',
      ['un', '##believ', '##able', 'the', 'unable', '##s'],
    ],
    ['a word without a piece at some position as unknown', 'unz the', ['[UNK]', 'the']],
    ['accents as their letters', 'Café cafe\u0301', ['cafe', 'cafe']],
    ['the capital I with a dot as i', 'İ', ['i']],
    ['every sigma as the same letter', 'ΟΣ', ['ο', '##σ']],
    ['punctuation as words', "the's, #the.", ['the', "'", '[UNK]', ',', '#', 'the', '.']],
    ['ASCII symbols as words, and other symbols as letters', 'the$the ₤the', ['the', '$', 'the', '[UNK]']],
    ['Han characters as words', '中国the中', ['中', '国', 'the', '中']],
    ['letters of other scripts', 'Я', ['я']],
    ['all kinds of whitespace', 'the\tthe\nthe\u00a0the\u2003the\u3000the', ['the', 'the', 'the', 'the', 'the', 'the']],
    ['no control, format or private characters', 't\u0000h\u200be\u00ad \u202e\ue000', ['the']],
    ['no lone surrogates and no replacement characters', 'th\ud800e \udc00 \ufffd', ['the']],
    ['emoji as unknown', '😀 👍🏽the', ['[UNK]', '[UNK]']],
    ['a word of a hundred letters', 'x'.repeat(100), ['x', ...Array.from({ length: 99 }, () => '##x')]],
    ['a longer word as unknown', 'x'.repeat(101), ['[UNK]']],
    ['the marks of a vocabulary as plain text', '[CLS] ##s', ['[UNK]', '[UNK]', '[UNK]', '#', '#', '[UNK]']],
    ['nothing in an empty text', '', []],
  ] as const) {
    it(`have ${title}`, () => assert.deepEqual(cut(text), expected))
  }

  it('have the marks of start and end', () => assert.deepEqual([start, end], [2, 3]))

  it('are all in the vocabulary, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        assert.ok(encode(text).every((id) => id in pieces))
      }),
    )
  })

  it('need a vocabulary with all marks', () => assert.throws(() => createWordPiece('[UNK]\n[CLS]\n'), /\[SEP\]/))
})
