import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { judgeWindowFrom, judgeWindowsOf, maxJudgeWindows } from './judge-windows.ts'

const sentence = 'The gate of the old town was open all day. '
const paragraph = sentence.repeat(10).trimEnd()

describe('the windows of a text that a judge evaluates', () => {
  it('are its paragraphs', () => {
    const text = `${paragraph}\n\n${paragraph}\r\n \r\n${paragraph}`
    assert.deepEqual(judgeWindowsOf(text), [`${paragraph}\n\n`, `${paragraph}\r\n \r\n`, paragraph])
  })

  it('join paragraphs that are short', () => {
    const list = Array.from({ length: 40 }, (_, at) => `- item ${at}`).join('\n\n')
    const windows = judgeWindowsOf(list)
    assert.equal(windows.length, 2)
    assert.match(windows[0] ?? '', /- item \d+\n\n$/)
  })

  it('cut a long paragraph after a sentence, or else after a word, or else anywhere but inside a character', () => {
    const [first] = judgeWindowsOf(sentence.repeat(40))
    assert.equal(first, sentence.repeat(27))
    assert.equal(judgeWindowsOf('word '.repeat(400))[0]?.length, 1_200)
    assert.equal(judgeWindowsOf('words '.repeat(400))[0]?.length, 1_200)
    assert.equal(judgeWindowsOf(`x${'😀'.repeat(900)}`)[0]?.length, 1_199)
  })

  it('are the text itself if it is short, and none if it is empty', () => {
    assert.deepEqual(judgeWindowsOf('One.\n\nTwo.'), ['One.\n\nTwo.'])
    assert.deepEqual(judgeWindowsOf(''), [])
  })

  it('are limited in number: the last one is the rest of the text', () => {
    const text = `${paragraph}\n\n`.repeat(500)
    const windows = judgeWindowsOf(text)
    assert.equal(windows.length, maxJudgeWindows + 1)
    assert.equal(windows.join(''), text)
  })

  const words = fc.constantFrom('the ', 'gate ', 'was open. ', '\n', '\n\n', '\r\n \n', '日本語', '😀', 'x'.repeat(300))
  const texts = fc.array(words, { maxLength: 600, size: 'max' }).map((list) => list.join(''))

  it('are the text in order, and each is its own only window', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const windows = judgeWindowsOf(text)
        assert.equal(windows.join(''), text)
        for (const window of windows.slice(0, maxJudgeWindows)) assert.deepEqual(judgeWindowsOf(window), [window])
      }),
    )
  })

  it('do not change when more text follows', () => {
    fc.assert(
      fc.property(texts, fc.nat(), (text, cut) => {
        const first = judgeWindowFrom(text, 0)
        const known = cut % (text.length + 1)
        const expected = first !== undefined && first.knownAt <= known ? first : undefined
        assert.deepEqual(judgeWindowFrom(text.slice(0, known), 0), expected)
      }),
    )
  })
})
