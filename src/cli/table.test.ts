import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { printable, table } from './table.ts'

const clear = '\u001b[2J'

describe('untrusted text on a terminal', () => {
  it('has its control characters replaced', () => {
    assert.equal(printable(`a${clear}b\u009bc\r\u0007`), 'a\ufffd[2Jb\ufffdc\ufffd\ufffd')
  })

  it('keeps its lines, tabs and letters', () => {
    const text = 'one\n\ttwo 😀 é עברית'
    assert.equal(printable(text), text)
  })

  it('adds no row to a table', () => {
    const rows = table(['NAME', 'KEY'], [[`x\nadmin  ak_1${clear}`, 'ak_2']]).split('\n')
    assert.deepEqual(rows, ['NAME               KEY', 'x\ufffdadmin  ak_1\ufffd[2J  ak_2'])
  })
})
