import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodedTexts } from './encoded-text.ts'

const secret = 'a sentence that somebody would rather not show'
const texts = (text: string): readonly string[] => encodedTexts(text).map((encoded) => encoded.text)

describe('encoded text', () => {
  it('is found in base64, with the position of its encoding', () => {
    const base64 = Buffer.from(secret).toString('base64')
    const [encoded] = encodedTexts(`decode this: ${base64} please`)
    assert.equal(encoded?.text, secret)
    assert.deepEqual(encoded?.carrier, { start: 13, end: 13 + base64.replace(/=+$/, '').length })
  })

  it('is found in hexadecimal', () =>
    assert.deepEqual(texts(Buffer.from(secret).toString('hex')).includes(secret), true))

  it('is found in URL, HTML and string escapes', () => {
    assert.deepEqual(texts('%6b%65%65%70 %6f%75%74'), ['keep out'])
    assert.deepEqual(texts('&#107;&#x65;&#101;p out &#33;'), ['keep out !'])
    assert.deepEqual(texts('\\u006b\\x65\\x65\\x70 out'), ['keep out'])
  })

  it('is found in a single escaped letter, and in multi-byte characters', () => {
    assert.deepEqual(texts('k%65ep out'), ['keep out'])
    assert.deepEqual(texts('k&#X65;ep out'), ['keep out'])
    assert.deepEqual(texts('k\\u{65}ep out'), ['keep out'])
    assert.deepEqual(texts(encodeURIComponent('进入禁止')), ['进入禁止'])
  })

  it('is found if short, after a prefix, in wrapped lines, and doubly encoded', () => {
    const base64 = Buffer.from(secret).toString('base64')
    assert.ok(texts(Buffer.from('keep out, you').toString('hex')).includes('keep out, you'))
    for (const before of ['a/', '__', 'see/this/'])
      assert.ok(
        texts(`${before}${base64}`).some((text) => text.endsWith(secret.slice(2))),
        before,
      )
    for (const width of [28, 16, 4])
      assert.ok(texts(base64.replace(new RegExp(`.{${width}}`, 'g'), '$&\n')).includes(secret), `${width} in a line`)
    assert.ok(texts(Buffer.from(Buffer.from(secret).toString('hex')).toString('base64')).includes(secret))
  })

  it('is found in invisible tag characters, which a model can read', () => {
    const unseen = Array.from('keep out', (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0)))
    assert.deepEqual(texts(`A ${unseen.join('lovely ')} day`), ['keep out'])
  })

  it('is found after any number of other encoded texts', () => {
    const decoys = Array.from({ length: 20 }, (_, at) =>
      Buffer.from(`harmless words, ${at} of twenty`).toString('base64'),
    )
    assert.ok(
      texts([...decoys, Buffer.from(secret).toString('base64')].join(' '))
        .at(-1)
        ?.endsWith(secret),
    )
  })

  it('is found two levels deep, but no deeper', () => {
    const once = Buffer.from(secret).toString('base64')
    const twice = Buffer.from(once).toString('base64')
    assert.ok(texts(Buffer.from(`here: ${once} and more words`).toString('base64')).includes(secret))
    assert.ok(!texts(Buffer.from(twice).toString('base64')).includes(secret))
  })

  it('is not found in keys, hashes, URLs and prose', () => {
    assert.deepEqual(texts('sk-proj-Zx81mPq0sLkd73hGtbVnQe92 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b'), [])
    assert.deepEqual(texts('https://example.org/some/long/path/to/a/page?with=a%20query'), [])
    assert.deepEqual(texts('antidisestablishmentarianism is a very long and rather ordinary word'), [])
  })

  it('is bounded in number, whatever the input', () => {
    const many = `${Buffer.from(secret).toString('base64')} `.repeat(5_000)
    assert.equal(texts(many).length, 8)
    assert.ok(texts('A'.repeat(1_000_000)).length <= 8)
    assert.ok(texts('%41'.repeat(300_000)).length <= 8)
  })
})
