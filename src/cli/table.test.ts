import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { oneLine, table, visible } from './table.ts'

const clear = '\u001b[2J'

describe('untrusted text on a terminal', () => {
  it('has its control characters, and those that change the direction of text, escaped', () => {
    const text = `a${clear}b\u009bc\r\u0007 \u202egpj.exe\u2066`
    assert.equal(visible(text), 'a\\u001b[2Jb\\u009bc\\u000d\\u0007 \\u202egpj.exe\\u2066')
  })

  it('keeps its lines, tabs and letters', () => {
    const text = 'one\n\ttwo 😀 é עברית'
    assert.equal(visible(text), text)
  })

  it('stays on one line with its control characters escaped, where a line has a meaning', () => {
    assert.equal(
      oneLine(`a${clear}\n\u009bb\u2028\u202e é עברית 👩‍💻`),
      'a\\u001b[2J\\n\\u009bb\\u2028\\u202e é עברית 👩‍💻',
    )
  })

  it('adds no row to a table', () => {
    const rows = table(['NAME', 'KEY'], [[`x\nadmin  ak_1${clear}`, 'ak_2']]).split('\n')
    assert.deepEqual(rows, ['NAME                     KEY', 'x\\nadmin  ak_1\\u001b[2J  ak_2'])
  })
})
