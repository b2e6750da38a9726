import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { passagesOf } from './passages.ts'

const textsOf = (text: string): readonly string[] =>
  passagesOf(text, true).map(({ start, end }) => text.slice(start, end))

describe('the passages of a text', () => {
  it('are its sentences and each pair of neighbours', () => {
    assert.deepEqual(textsOf('The gate is open. Who goes there now? Nobody at all.'), [
      'The gate is open.',
      'Who goes there now?',
      'Nobody at all.',
      'The gate is open. Who goes there now?',
      'Who goes there now? Nobody at all.',
    ])
  })

  it('are not read of a text of one sentence, which is its own passage', () => {
    assert.deepEqual(textsOf('The gate of the town is open and nobody comes'), [])
    assert.deepEqual(textsOf(''), [])
  })

  it('begin and end at the quotes and braces of data around a text', () => {
    const json = JSON.stringify({ name: 'note', body: 'The gate is open tonight', tags: ['a'] })
    assert.ok(textsOf(json).includes('The gate is open tonight'))
  })

  it('leave out names and list items, and count words of scripts without spaces', () => {
    assert.deepEqual(textsOf('block:\n- self-harm\n- hate'), [])
    assert.deepEqual(textsOf('門は開いています。誰も来ません。'), ['門は開いています。', '誰も来ません。'])
  })

  it('are few for a text of many lines', () => {
    const lines = Array.from({ length: 2_000 }, (_, at) => `the gate number ${at} is open`).join('\n')
    assert.ok(passagesOf(lines, true).length < 256)
    assert.ok(textsOf(lines).at(-1)?.endsWith('the gate number 1999 is open'))
  })

  it('are parts of the text, and leave out no sentence of several words', () => {
    const part = fc.constantFrom(
      'the gate of the town',
      ' is open now',
      '. ',
      '\n',
      '"',
      '!',
      ' 12 ',
      '{',
      'ünïcode wörds hëre',
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        const text = parts.join('')
        const passages = passagesOf(text, true)
        for (const { start, end } of passages) assert.ok(start >= 0 && start < end && end <= text.length)
        if (passages.length === 0) return
        for (const sentence of text.split(/[.!\n"{]/).filter((one) => one.includes('the gate of the town')))
          assert.ok(textsOf(text).some((passage) => passage.includes(sentence.trim())))
      }),
    )
  })
})
