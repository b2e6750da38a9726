import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { startAdminApp, textOf } from '../support/administration.ts'
import { openCommandLine } from '../support/command-line.ts'

describe('gatehouse evaluate', () => {
  it('shows the decision, the result of each check and the evidence', async () => {
    await using scene = await openCommandLine()
    await using app = await startAdminApp({ config: { storage: { data_dir: scene.dataDir } } })
    const { status, output } = await scene.call('evaluate', 'Good morning')
    assert.equal(status, 0)
    assert.match(output, /^allow \(ALLOW\); effect: allow\n/)
    assert.match(output, /always_blocked +default +- +- +allow +yes +\d+ +5000/)

    const draft = await app.admin.post('/policies', {
      name: 'Names',
      rule: 'Never mention "Project Falcon".',
      mode: 'enforcing',
    })
    const id = textOf(draft)
    assert.match((await scene.call('evaluate', 'project falcon')).output, /^allow/)
    const denied = await scene.call('evaluate', 'About project falcon', '--draft', id)
    assert.match(denied.output, new RegExp(`^refuse \\(REFUSE\\) by ${id}; effect: refuse\n`))
    assert.match(denied.output, /phrase +Project Falcon +0\.0 +6-20 +project falcon/)
    const json = await scene.json('evaluate', 'project falcon', '--draft', id, '--direction', 'response')
    assert.deepEqual([json.verdict.decision, json.verdict.policy_id, json.verdict.version], ['refuse', id, null])
  })

  it('reads the text of a file', async () => {
    await using scene = await openCommandLine()
    await using _app = await startAdminApp({ config: { storage: { data_dir: scene.dataDir } } })
    const file = join(scene.folder, 'text.txt')
    writeFileSync(file, 'I want to kill myself tonight.')
    const { output } = await scene.call('evaluate', '-f', file)
    assert.match(output, /^refuse/)
    assert.match(output, /category +self-harm/)
  })

  it('rejects a text and a file together, and an unknown draft', async () => {
    await using scene = await openCommandLine()
    await using _app = await startAdminApp({ config: { storage: { data_dir: scene.dataDir } } })
    assert.equal((await scene.call('evaluate', 'a', '-f', 'b')).status, 2)
    const unknown = await scene.call('evaluate', 'a', '--draft', 'pol_nobody')
    assert.equal(unknown.status, 1)
    assert.match(unknown.errors, /policies\[1\]\.policy_id/)
  })
})
