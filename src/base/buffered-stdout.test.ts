import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'

/** What a process says that writes so many lines, and then ends in this way. */
function said(lines: number, end: string): string[] {
  const module = new URL('line-batch.ts', import.meta.url).href
  const script = `
    const { createLineBatch } = await import(${JSON.stringify(module)})
    const batch = createLineBatch()
    for (let at = 0; at < ${lines}; at++) batch.write('line ' + at + '\\n')
    ${end}`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  return stdout.trimEnd().split('\n')
}

const numbered = (lines: number): string[] => Array.from({ length: lines }, (_, at) => `line ${at}`)

describe('lines that leave in batches', () => {
  const ends: Readonly<Record<string, { readonly end: string; readonly lines: number }>> = {
    'has nothing more to do': { end: '', lines: 5_000 },
    'has flushed them': { end: 'batch.flush(() => process.exit())', lines: 5_000 },
    // Of more, the system may still be writing a part.
    'is ended': { end: 'process.exit(1)', lines: 50 },
    'breaks down': { end: "throw new Error('broken')", lines: 50 },
  }
  for (const [how, { end, lines }] of Object.entries(ends)) {
    it(`are all there, in order, when the process ${how}`, () => assert.deepEqual(said(lines, end), numbered(lines)))
  }

  it('are left out and counted once so many wait that nobody can be reading them', () => {
    const lines = said(1_500_000, '')
    const { message } = JSON.parse(lines.pop() ?? '') as { message: string }
    assert.equal(message, `${1_500_000 - lines.length} lines were left out: nobody read the log`)
    assert.deepEqual(lines, numbered(lines.length))
  })
})
