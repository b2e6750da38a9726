import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'

/** The standard output of a process that writes `lines` lines and then runs `end`. */
function outputOf(lines: number, end: string): string[] {
  const module = new URL('buffered-stdout.ts', import.meta.url).href
  const script = `
    const { createBufferedStdout } = await import(${JSON.stringify(module)})
    const stdout = createBufferedStdout()
    for (let at = 0; at < ${lines}; at++) stdout.write('line ' + at + '\\n')
    ${end}`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  return stdout.trimEnd().split('\n')
}

const numbered = (lines: number): string[] => Array.from({ length: lines }, (_, at) => `line ${at}`)

describe('buffered standard output', () => {
  const ends: Readonly<Record<string, { readonly end: string; readonly lines: number }>> = {
    'runs to its end': { end: '', lines: 5_000 },
    'has flushed them': { end: 'stdout.flush(() => process.exit())', lines: 5_000 },
    // With more lines, part of the output may still be in the operating system's pipe.
    'calls exit': { end: 'process.exit(1)', lines: 50 },
    throws: { end: "throw new Error('broken')", lines: 50 },
  }
  for (const [how, { end, lines }] of Object.entries(ends)) {
    it(`writes every line, in order, when the process ${how}`, () =>
      assert.deepEqual(outputOf(lines, end), numbered(lines)))
  }

  it('drops and counts lines when the reader does not keep up', () => {
    const lines = outputOf(1_500_000, '')
    const { message } = JSON.parse(lines.pop() ?? '') as { message: string }
    assert.equal(message, `${1_500_000 - lines.length} lines were dropped because the log was not read`)
    assert.deepEqual(lines, numbered(lines.length))
  })
})
