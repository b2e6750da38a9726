import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runCommandLine } from '../../src/cli/run.ts'
import { startAdminApp, textOf } from '../support/administration.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const execute = promisify(execFile)
const mainFile = fileURLToPath(new URL('../../bin/gatehouse.mjs', import.meta.url))

describe('gatehouse policies backtest', () => {
  it('shows a progress bar on a terminal, a table as text, and JSON for scripts', async () => {
    await using folder = await temporaryFolder()
    const dataDir = join(folder.path, 'data')
    const config = { audit: { content: 'full' }, storage: { data_dir: dataDir } }
    await using app = await startAdminApp({ config })
    for (const content of ['Tell me about Falcon', 'Hello']) {
      await app.post('/v1/messages', {
        model: 'gatehouse-echo',
        max_tokens: 16,
        messages: [{ role: 'user', content }],
      })
    }
    const shown: string[] = []
    const run = async (...args: string[]) => {
      const output: string[] = []
      const remarks: string[] = []
      const code = await runCommandLine(['policies', ...args], {
        env: { GATEHOUSE_DATA_DIR: dataDir, GATEHOUSE_LOG_LEVEL: 'silent' },
        print: (line) => void output.push(line),
        printError: (line) => void remarks.push(line),
        progress: (text) => void shown.push(text),
        confirm: async () => false,
      })
      return { code, output: output.join('\n'), remarks: remarks.join('\n') }
    }
    const rule = 'Never mention "Falcon".'
    const id = textOf(await app.admin.post('/policies', { name: `P ${randomUUID()}`, rule, direction: 'request' }))

    const seen = await run('backtest', id, '--from', '7d', '--thresholds', '5000,9000')
    assert.deepEqual([seen.code, seen.remarks], [0, ''])
    assert.match(seen.output, /2 events, 2 chosen, 2 with text/)
    assert.match(seen.output, /^all +1 +0 +0 +1 +0$/m)
    assert.match(seen.output, /^5000 \(draft\) +1 +1 +0$/m)
    assert.match(seen.output, /newly blocked:\nevt_/)
    assert.match(shown[0] ?? '', /^\[ {30}\] 0 % {2}0 of 1000 events$/)
    assert.equal(shown.at(-1), '')

    const begun = JSON.parse((await run('backtest', id, '--no-wait', '--json')).output)
    assert.equal(begun.status, 'running')
    const ended = JSON.parse((await run('backtest', id, '--backtest', begun.id, '--json')).output)
    assert.deepEqual([ended.status, ended.result.newly_blocked], ['completed', 1])

    const listed = await run('backtests', id)
    assert.match(listed.output, new RegExp(`^${ended.id} .* completed +1 +2 of 2 +1 +0$`, 'm'))
    const uncancelled = await run('backtest', id, '--backtest', ended.id, '--cancel', '--json')
    assert.equal(JSON.parse(uncancelled.output).status, 'completed')
    assert.equal((await run('backtest', id, '--cancel')).code, 2)

    // In its own process, which only the wait for the backtest keeps alive.
    const args = [mainFile, 'policies', 'backtest', id]
    const { stdout, stderr } = await execute(process.execPath, args, { env: { GATEHOUSE_DATA_DIR: dataDir } })
    assert.match(stdout, /^all +1 +0 +0 +1 +0$/m)
    assert.equal(stderr, '')

    const wrong = await run('backtest', id, '--limit', 'many')
    assert.equal(wrong.code, 2)
  })
})
