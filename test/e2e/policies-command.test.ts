import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runCommandLine } from '../../src/cli/run.ts'
import { itemsOf, startAdminApp, textOf, type Json } from '../support/administration.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const wanted = `
policies:
  - name: No falcon
    rule: Never mention "Falcon".
    mode: enforcing
  - name: Kindness
    rule: Be kind.
`

/** The command line in this process, on its own data folder. */
async function openScene() {
  const folder = await temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const env = { GATEHOUSE_DATA_DIR: dataDir, GATEHOUSE_LOG_LEVEL: 'silent' }
  const prompts: string[] = []
  const run = async (args: readonly string[], answer = false) => {
    const output: string[] = []
    const remarks: string[] = []
    const code = await runCommandLine(args, {
      env,
      print: (line) => void output.push(line),
      printError: (line) => void remarks.push(line),
      confirm: async (question) => {
        prompts.push(question)
        return answer
      },
    })
    return { code, output: output.join('\n'), remarks: remarks.join('\n') }
  }
  const json = async (...args: string[]): Promise<Json> => JSON.parse((await run([...args, '--json'])).output)
  const file = (text: string): string => {
    const path = join(folder.path, 'policies.yaml')
    writeFileSync(path, text)
    return path
  }
  return { run, json, file, dataDir, prompts, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() }
}

describe('gatehouse policies', () => {
  it('takes a policy through its lifecycle', async () => {
    await using scene = await openScene()
    const { run, json } = scene
    await run(['setup'])
    const made = await json('policies', 'create', '--name', 'No falcon', '--rule', 'Never mention "Falcon".')
    const id = textOf(made)
    assert.equal((await json('policies', 'publish', id))['state'], 'monitoring')
    assert.equal((await json('policies', 'update', id, '--mode', 'enforcing', '--threshold', '7000'))['revision'], 3)
    assert.equal(
      (await run(['policies', 'diff', id])).output,
      '- mode: monitoring\n+ mode: enforcing\n- match_threshold_basis_points: (none)\n+ match_threshold_basis_points: 7000',
    )
    const stale = await run(['policies', 'publish', id, '--revision', '2'])
    assert.deepEqual(
      [stale.code, stale.remarks],
      [1, 'The policy is at revision 3; the request names 2. (revision_conflict, revision)'],
    )
    assert.equal((await json('policies', 'publish', id))['current_version'], 2)
    assert.equal((await json('policies', 'pause', id))['state'], 'paused')
    assert.equal((await json('policies', 'resume', id))['state'], 'enforcing')
    assert.equal((await json('policies', 'rollback', id, '--version', '1'))['current_version'], 3)
    assert.match((await run(['policies', 'diff', id])).output, /^No difference between version 3/)
    assert.match(
      (await run(['policies', 'diff', id, '--version', '2'])).output,
      /^- mode: enforcing\n\+ mode: monitoring/,
    )
    assert.match((await run(['policies', 'show', id])).output, /monitoring, revision 7, version 3/)
    assert.match((await run(['policies', 'list'])).output, /No falcon +monitoring +7 +3 +no/)
    assert.equal((await json('policies', 'delete', id))['deleted'], true)
    assert.equal((await run(['policies', 'show', id])).code, 1)
  })

  it('explains that no judge is configured for a rule', async () => {
    await using scene = await openScene()
    await scene.run(['setup'])
    const { id } = await scene.json('policies', 'create', '--name', 'Kind', '--rule', 'Be kind.')
    assert.match((await scene.run(['policies', 'publish', String(id)])).remarks, /this rule cannot be evaluated yet/)
  })

  it('prints its usage if it is called incorrectly', async () => {
    await using scene = await openScene()
    for (const args of [['nope'], ['show'], ['update', 'pol_1', '--typo', 'x']]) {
      const { code, remarks } = await scene.run(['policies', ...args])
      assert.equal(code, 2, args.join(' '))
      assert.match(remarks, /gatehouse policies list/)
    }
  })

  it('names the command that applies files', async () => {
    await using scene = await openScene()
    const { code, remarks } = await scene.run(['policies', 'apply', '-f', scene.file(wanted)])
    assert.equal(code, 2)
    assert.match(remarks, /Use gatehouse apply -f FILE/)
  })

  it('works while the server runs, and is audited as the operator', async () => {
    await using scene = await openScene()
    await using app = await startAdminApp({ config: { storage: { data_dir: scene.dataDir } } })
    const { code } = await scene.run(['apply', '-f', scene.file(wanted), '--yes'])
    assert.equal(code, 0)
    const listed = itemsOf(await app.admin.get('/policies'))
    assert.deepEqual(
      listed.map(({ name, state }) => [name, state]),
      [
        ['Kindness', 'monitoring'],
        ['No falcon', 'enforcing'],
      ],
    )
    const entries = itemsOf(await app.admin.get('/audit_logs'))
    assert.deepEqual(
      entries.map(({ kind, actor }) => [kind, actor]),
      ['policy.published', 'policy.created', 'policy.published', 'policy.created', 'organization.created'].map(
        (kind) => [kind, { type: 'operator', id: null }],
      ),
    )
  })
})
