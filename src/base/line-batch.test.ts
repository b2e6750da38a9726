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
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  return stdout.trimEnd().split('\n')
}

describe('lines that leave in batches', () => {
  const ends: Readonly<Record<string, string>> = {
    'has nothing more to do': '',
    'is ended': 'process.exit(1)',
    'breaks down': "throw new Error('broken')",
    'flushes them': 'batch.flush(() => process.exit())',
  }
  for (const [how, end] of Object.entries(ends)) {
    it(`are all there, in order, when the process ${how}`, () => {
      for (const lines of [3, 2_000]) {
        assert.deepEqual(
          said(lines, end),
          Array.from({ length: lines }, (_, at) => `line ${at}`),
        )
      }
    })
  }
})
