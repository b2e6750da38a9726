import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { startAdminApp, type AdminApp } from '../support/administration.ts'

/** The `error` of a backtest is a text. */
type PrintedJson = { readonly error?: { readonly code?: string; readonly type: string } | string }

describe('a guide can be pasted from top to bottom', () => {
  it('of ten minutes: only the request about the falcon is rejected', async () => {
    await using app = await startAdminApp()
    const answers = await paste('ten-minutes', app)
    assert.deepEqual([answers.length, refusalsIn(answers)], [5, ['invalid_request_error']])
  })

  it('to policies: only the late change is rejected', async () => {
    await using app = await startAdminApp()
    const answers = await paste('policies', app)
    assert.ok(answers.length >= 15, `only ${answers.length} answers`)
    assert.deepEqual(refusalsIn(answers), ['revision_conflict'])
  })

  it('to the policy gateway: only the request about the falcon and the late save are rejected', async () => {
    await using app = await startAdminApp()
    const answers = await paste('policy-gateway', app)
    assert.ok(answers.length >= 12, `only ${answers.length} answers`)
    assert.deepEqual(refusalsIn(answers), ['invalid_request_error', 'stale_configuration'])
    assert.ok(JSON.stringify(answers).includes('You said: Write to [EMAIL_1]'))
  })

  it('to prompt injection: only the request with a blocked one is rejected', async () => {
    await using app = await startAdminApp()
    const answers = await paste('prompt-injection', app)
    assert.deepEqual([answers.length, refusalsIn(answers)], [3, ['invalid_request_error']])
    assert.ok(JSON.stringify(answers).includes('Denied: a tool result contains a prompt injection.'))
  })

  it('to moderation: nothing in it is rejected', async () => {
    await using app = await startAdminApp()
    const answers = await paste('moderation', app)
    assert.deepEqual([answers.length, refusalsIn(answers)], [2, []])
  })

  it('to embeddings: nothing in it is rejected', async () => {
    await using app = await startAdminApp()
    const answers = await paste('embeddings', app)
    assert.deepEqual([answers.length, refusalsIn(answers)], [1, []])
  })

  it('to export sinks: nothing in it is rejected', async () => {
    await using app = await startAdminApp()
    const answers = await paste('exports', app)
    assert.deepEqual([answers.length, refusalsIn(answers)], [5, []])
  })

  it('to backtests: nothing in it is rejected', async () => {
    await using app = await startAdminApp()
    const answers = await paste('backtest', app)
    assert.deepEqual([answers.length, refusalsIn(answers)], [6, []])
  })
})

const refusalsIn = (answers: readonly PrintedJson[]): string[] =>
  answers.flatMap(({ error }) => (typeof error === 'object' && error !== null ? [error.code ?? error.type] : []))

/** Runs every block that is marked `sh`, and returns all JSON that it printed. */
async function paste(name: string, app: AdminApp): Promise<PrintedJson[]> {
  const guide = readFileSync(new URL(`../../docs/guide/${name}.md`, import.meta.url), 'utf8')
  const blocks = [...guide.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block)
  const script = `set -euo pipefail\n${blocks.join('echo\n')}`
  const shell = spawn('bash', ['-c', script.replaceAll(/^(api|gateway|ask|exports) .*$/gm, '$&; echo')], {
    env: { PATH: process.env['PATH'], GATEHOUSE: app.url, ADMIN_KEY: app.adminKey, API_KEY: app.apiKey },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number | null>((resolve) => shell.once('close', resolve))
  const lines = (await text(shell.stdout)).split('\n').filter((line) => line.startsWith('{'))
  assert.equal(await ended, 0)
  return lines.map((line): PrintedJson => JSON.parse(line))
}
