import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { hashWord } from './hashing.ts'
import { visitTokens } from './tokens.ts'
import { createVocabulary, segment, unmask } from './unmask.ts'

const words = [
  'to',
  'i',
  'want',
  'kill',
  'time',
  'good',
  'book',
  'a',
  'shell',
  'fuck',
  "don't",
  'cool',
  'so',
  'pass',
  'die',
  'suicide',
  'myself',
  'live',
  'evil',
  'stupid',
  'hate',
]
const vocabulary = createVocabulary(Uint32Array.from(words, hashWord))

function tokensOf(text: string): readonly string[] {
  const tokens: string[] = []
  visitTokens(text, {
    word: (token) => tokens.push(token),
    spacedLetters: (letters) => tokens.push(`~${letters}`),
  })
  return tokens
}

describe('tokens', () => {
  it('are single letters in Chinese and Japanese, each with its voicing mark', () => {
    assert.deepEqual(tokensOf('想死abcか\u3099x。한국'), ['想', '死', 'abc', 'か\u3099', 'x', '한국'])
  })

  it('are words, with the symbols inside them', () => {
    assert.deepEqual(tokensOf("don't k!ll f**k p@ss, e-mail: a@b.c!"), [
      "don't",
      'k!ll',
      'f**k',
      'p@ss',
      'e',
      'mail',
      'a@b',
      'c',
    ])
    assert.deepEqual(tokensOf('pay $100 or $uicide a$$'), ['pay', '$100', 'or', '$uicide', 'a$$'])
  })

  it('join single letters in a row', () => {
    assert.deepEqual(tokensOf('k.i.l.l and k i l l and k-i-l-l!'), ['~kill', 'and', '~kill', 'and', '~kill'])
    assert.deepEqual(tokensOf('w a n t  t o o'), ['~want', '~too'])
    assert.deepEqual(tokensOf('plan a or plan b. i said'), ['plan', 'a', 'or', 'plan', 'b', 'i', 'said'])
    assert.deepEqual(tokensOf("d o n ' t  t o  i  m y  dog, t o"), ["~don't", '~to', 'i', '~my', 'dog', 't', 'o'])
  })

  it('are bounded in length', () => {
    assert.deepEqual(
      tokensOf('x '.repeat(450)).map((token) => token.length),
      [202, 202, 49],
    )
    assert.deepEqual(
      tokensOf('x'.repeat(70)).map((token) => token.length),
      [32, 32, 6],
    )
  })
})

describe('unmasking', () => {
  const cases: readonly (readonly [token: string, word: string])[] = [
    ['kill', 'kill'],
    ['k1ll', 'kill'],
    ['k!ll', 'kill'],
    ['kiiiill', 'kill'],
    ['g00d', 'good'],
    ['gooood', 'good'],
    ['coooool', 'cool'],
    ['f*ck', 'fuck'],
    ['5h3ll', 'shell'],
    ['p4$$', 'pass'],
    ["don't", "don't"],
    ['2024', '00'],
    ['22547604158@22547654347@2254', '00'],
    ['7', '#young'],
    ['18', '00'],
    ['14yo', '#youngyo'],
    ['44yo', '00yo'],
    ['mp3', 'mp0'],
    ['aaaargh', 'aargh'],
    ['8th', '#youngth'],
    ['20th', '00th'],
    ['3nd', '0nd'],
    ['sucide', 'suicide'],
    ['sdiciue', 'sdiciue'],
    ['suciide', 'suicide'],
    ['klil', 'kill'],
    ['kll', 'kill'],
    ['myslf', 'myself'],
    ['flesym', 'myself'],
    ['stupdi', 'stupid'],
    ['diputs', 'diputs'],
    ['evil', 'evil'],
    ['mysefl', 'myself'],
    ['my5elf', 'myself'],
    ['my$efl', 'myself'],
    ['m*s*lf', 'myself'],
    ['s**c*d*', 'suicide'],
    ['s*****e', 's**e'],
    ['hatte', 'hatte'],
  ]
  for (const [token, word] of cases)
    it(`reads ${token} as ${word}`, () => assert.equal(unmask(token, vocabulary), word))

  it('splits letters without spaces into known words', () => {
    assert.deepEqual(segment('iwanttodie', vocabulary), ['i', 'want', 'to', 'die'])
    assert.deepEqual(segment('k1lltime', vocabulary), ['kill', 'time'])
    assert.deepEqual(segment('qzx', vocabulary), ['q', 'z', 'x'])
  })
})
