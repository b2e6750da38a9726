import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runCommandLine } from '../../src/cli/run.ts'
import { startAdminApp } from '../support/administration.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const wanted = `
policy_id: app-rules
rules:
  denylist: [falcon, '/FAL-\\d+/']
org_controls:
  user_quota: { requests: 5, window: daily }
`

/** The command line in this process, on its own data folder. */
async function openScene() {
  const folder = await temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const run = async (args: readonly string[], confirms = false) => {
    const output: string[] = []
    const remarks: string[] = []
    const code = await runCommandLine(['gateway', ...args], {
      env: { GATEHOUSE_DATA_DIR: dataDir, GATEHOUSE_LOG_LEVEL: 'silent' },
      print: (line) => void output.push(line),
      printError: (line) => void remarks.push(line),
      confirm: async () => confirms,
    })
    return { code, output: output.join('\n'), remarks: remarks.join('\n') }
  }
  const file = (text: string): string => {
    const path = join(folder.path, 'gateway.yaml')
    writeFileSync(path, text)
    return path
  }
  return { run, file, dataDir, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() }
}

describe('gatehouse gateway', () => {
  it('shows what would change, changes nothing without confirmation, and then applies it once', async () => {
    await using scene = await openScene()
    await using _app = await startAdminApp({ config: { storage: { data_dir: scene.dataDir } } })
    const { run, file } = scene
    const path = file(wanted)
    const plan = [
      '- policy_id: default',
      '+ policy_id: app-rules',
      '+ rules.denylist: falcon',
      '+ rules.denylist: /FAL-\\d+/',
      '- org_controls.user_quota.requests: 0',
      '+ org_controls.user_quota.requests: 5',
    ].join('\n')
    assert.deepEqual(await run(['apply', path, '--plan']), { code: 0, output: plan, remarks: '' })
    const declined = await run(['apply', path])
    assert.deepEqual([declined.code, declined.remarks], [1, plan])
    assert.equal(JSON.parse((await run(['show', '--json'])).output).version, 0)
    const applied = await run(['apply', path], true)
    assert.deepEqual([applied.code, applied.output], [0, `${plan}\nSaved as version 1.`])
    assert.equal((await run(['apply', path])).output, 'Nothing changes.')
  })

  it('warns about rewriting without a judge', async () => {
    await using scene = await openScene()
    await using _app = await startAdminApp({ config: { storage: { data_dir: scene.dataDir } } })
    const { remarks } = await scene.run(['apply', scene.file('rules: { response_pattern: rewrite }'), '--yes'])
    assert.match(remarks, /^Warning: .* no judge model is configured/)
  })

  it('accepts its own output, and the response of the API', async () => {
    await using scene = await openScene()
    await using app = await startAdminApp({ config: { storage: { data_dir: scene.dataDir } } })
    const { run, file } = scene
    await run(['apply', file(wanted), '--yes'])
    assert.equal((await run(['apply', file((await run(['show'])).output)])).output, 'Nothing changes.')
    const headers = { authorization: `Bearer ${app.apiKey}` }
    const answer = await (await fetch(`${app.url}/api/policy-gateway/config`, { headers })).text()
    assert.equal((await run(['apply', file(answer)])).output, 'Nothing changes.')
  })

  it('rejects an invalid file, and names the field', async () => {
    await using scene = await openScene()
    await using _app = await startAdminApp({ config: { storage: { data_dir: scene.dataDir } } })
    for (const [text, words] of [
      ['rules: { deny: [a] }', /rules\.deny: is not a known field/],
      ["rules: { denylist: [a, '/(/'] }", /rules\.denylist\[1\]: The term/],
      ['rules: [', /gateway\.yaml:/],
      ['just a text', /there must be a configuration/],
    ] as const) {
      const { code, remarks } = await scene.run(['apply', scene.file(text), '--yes'])
      assert.equal(code, 1)
      assert.match(remarks, words)
    }
  })

  it('prints its usage if it is called incorrectly', async () => {
    await using scene = await openScene()
    for (const args of [['nope'], ['apply'], ['show', '--typo']]) {
      const { code, remarks } = await scene.run(args)
      assert.equal(code, 2, args.join(' '))
      assert.match(remarks, /gatehouse gateway show/)
    }
  })
})
