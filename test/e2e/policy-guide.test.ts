import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { startAdminHouse } from '../support/administration.ts'

const guide = readFileSync(new URL('../../docs/guide/policies.md', import.meta.url), 'utf8')

describe('the guide to policies', () => {
  it('can be pasted from top to bottom: only the change that comes too late is refused', async () => {
    await using house = await startAdminHouse()
    const blocks = [...guide.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block)
    const script = `set -euo pipefail\n${blocks.join('echo\n')}`
    const shell = spawn('bash', ['-c', script.replaceAll(/^api .*$/gm, '$&; echo')], {
      env: { PATH: process.env['PATH'], GATEHOUSE: house.url, ADMIN_KEY: house.adminKey },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = new Promise<number | null>((resolve) => shell.once('close', resolve))
    const lines = (await text(shell.stdout)).split('\n').filter((line) => line.startsWith('{'))
    assert.equal(await ended, 0)
    const answers = lines.map((line): { error?: { code: string } } => JSON.parse(line))
    assert.ok(answers.length >= 15, `only ${answers.length} answers`)
    assert.deepEqual(
      answers.flatMap(({ error }) => error?.code ?? []),
      ['revision_conflict'],
    )
  })
})
