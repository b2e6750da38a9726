import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runCommandLine } from '../../src/cli/run.ts'
import { startAdminApp } from '../support/administration.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const wanted = `
gateway:
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
    const code = await runCommandLine(args, {
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
  it('is changed by apply, which shows the changes and asks before', async () => {
    await using scene = await openScene()
    await using _app = await startAdminApp({ config: { storage: { data_dir: scene.dataDir } } })
    const { run, file } = scene
    const path = file(wanted)
    const changes = [
      /\+ policy_id: app-rules/,
      /\+ rules\.denylist: \/FAL-\\d\+\//,
      /\+ org_controls\.user_quota\.requests: 5/,
    ]
    const declined = await run(['apply', '-f', path])
    assert.equal(declined.code, 1)
    for (const change of changes) assert.match(declined.remarks, change)
    assert.equal(JSON.parse((await run(['gateway', 'show', '--json'])).output).version, 0)
    assert.equal((await run(['apply', '-f', path], true)).code, 0)
    assert.equal((await run(['plan', '-f', path])).code, 0)
  })

  it('warns about rewriting without a judge', async () => {
    await using scene = await openScene()
    await using _app = await startAdminApp({ config: { storage: { data_dir: scene.dataDir } } })
    const path = scene.file('gateway: { rules: { response_pattern: rewrite } }')
    const { remarks } = await scene.run(['apply', '-f', path, '--yes'])
    assert.match(remarks, /^Warning: .* no judge model is configured/)
  })

  it('prints a file that apply accepts', async () => {
    await using scene = await openScene()
    await using _app = await startAdminApp({ config: { storage: { data_dir: scene.dataDir } } })
    const { run, file } = scene
    await run(['apply', '-f', file(wanted), '--yes'])
    const shown = await run(['gateway', 'show'])
    assert.match(shown.output, /^gateway:\n {2}policy_id: app-rules\n/)
    assert.equal((await run(['plan', '-f', file(shown.output)])).code, 0)
  })

  it('names the field of a file that is wrong', async () => {
    await using scene = await openScene()
    await using _app = await startAdminApp({ config: { storage: { data_dir: scene.dataDir } } })
    for (const [text, words] of [
      ['gateway: { rules: { deny: [a] } }', /rules\.deny: is not a known field/],
      ["gateway: { rules: { denylist: [a, '/(/'] } }", /rules\.denylist\[1\]: The term/],
      ['gateway: { rules: [', /gateway\.yaml:/],
    ] as const) {
      const { code, remarks } = await scene.run(['apply', '-f', scene.file(text), '--yes'])
      assert.equal(code, 1)
      assert.match(remarks, words)
    }
  })

  it('names the command that applies files', async () => {
    await using scene = await openScene()
    const { code, remarks } = await scene.run(['gateway', 'apply', scene.file(wanted)])
    assert.equal(code, 2)
    assert.match(remarks, /Use gatehouse apply -f FILE/)
  })

  it('prints its usage if it is called incorrectly', async () => {
    await using scene = await openScene()
    for (const args of [['nope'], ['show', '--typo']]) {
      const { code, remarks } = await scene.run(['gateway', ...args])
      assert.equal(code, 2, args.join(' '))
      assert.match(remarks, /gatehouse gateway show/)
    }
  })
})
