import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startTestApp } from '../support/app.ts'
import { openCommandLine } from '../support/command-line.ts'
import { answerJson, startUpstream } from '../support/upstream.ts'

describe('gatehouse models, gatehouse upstreams and gatehouse system', () => {
  it('print what the running server serves, and say in the exit code whether an upstream answers', async () => {
    await using line = await openCommandLine()
    await using upstream = await startUpstream(answerJson({ error: { message: 'no' } }, 500))
    const config = {
      storage: { data_dir: line.dataDir },
      upstreams: [
        { name: 'broken', kind: 'openai-chat', base_url: upstream.url },
        { name: 'works', kind: 'echo' },
      ],
      models: [{ name: 'support', targets: [{ upstream: 'works', model: 'large' }, { upstream: 'broken' }] }],
    }
    await using _app = await startTestApp({ config })
    const models = await line.call('models', 'list')
    assert.match(models.output, /^support +works\/large, broken +200000 +0 +0 +models\[0\]$/m)
    assert.match((await line.call('upstreams', 'probe', 'works')).output, /^works answered in \d+ ms \(model large\)$/)
    const failed = await line.call('upstreams', 'probe', 'broken')
    assert.deepEqual(
      [failed.status, /^broken did not answer after \d+ ms: upstream_error: /.test(failed.output)],
      [1, true],
    )
    const list = await line.call('upstreams')
    assert.match(list.output, /^broken +openai-chat +failing +1 +0 of 512 /m)
    assert.match(list.output, /^works +echo +ok +0 /m)
    const system = await line.call('system', 'show')
    assert.match(system.output, /^warning {2}upstream broken: the last call failed \(upstream_error\)$/m)
    assert.match(system.output, /^upstreams\[0\]\.name +broken +file$/m)
    assert.doesNotMatch(system.output, /^log\.level/m)
    assert.match((await line.call('system', 'show', '--all')).output, /^log\.level +info +default$/m)
  })

  it('name the command that starts a server, if none runs', async () => {
    await using line = await openCommandLine()
    await line.call('setup')
    for (const args of [['models'], ['system'], ['upstreams'], ['upstreams', 'probe', 'echo']]) {
      const { status, errors } = await line.call(...args)
      assert.deepEqual([status, /gatehouse serve/.test(errors)], [1, true])
    }
  })
})
