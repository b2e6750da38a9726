import assert from 'node:assert/strict'
import { it } from 'node:test'
import { itemsOf, textOf } from '../support/administration.ts'
import { openAsCode } from '../support/as-code.ts'

const policy = (more: string): string => `
policies:
  - name: No code names
    rule: Never mention "Falcon".
    direction: request
${more}`

it('the rollout of a policy is planned, applied and exported', async () => {
  await using scene = await openAsCode()
  scene.write(policy('    mode: enforcing\n    rollout_percent: 10\n'))
  assert.equal((await scene.apply()).status, 0)
  const [created] = itemsOf(await scene.app.admin.get('/policies'))
  assert.deepEqual([created?.['rollout_percent'], created?.['current_version']], [10, 1])
  assert.equal((await scene.plan()).status, 0)
  assert.match((await scene.run('export')).output, /rollout_percent: 10/)

  scene.write(policy('    mode: enforcing\n    rollout_percent: 50\n'))
  assert.match((await scene.plan()).output, /rollout_percent: 10\n.*rollout_percent: 50|rollout_percent.*10.*50/s)
  assert.equal((await scene.apply()).status, 0)
  const [changed] = itemsOf(await scene.app.admin.get('/policies'))
  assert.deepEqual([changed?.['rollout_percent'], changed?.['current_version']], [50, 1])

  scene.write(policy('    mode: enforcing\n'))
  assert.equal((await scene.plan()).status, 0)

  scene.write(policy('    mode: monitoring\n    rollout_percent: 10\n'))
  assert.match((await scene.plan()).errors, /rollout_percent needs the mode enforcing/)
})

it('the command line changes a rollout, and makes and ends exceptions', async () => {
  await using scene = await openAsCode()
  scene.write(policy('    mode: enforcing\n'))
  await scene.apply()
  const [created] = itemsOf(await scene.app.admin.get('/policies'))
  const id = textOf(created ?? {})
  assert.match((await scene.run('policies', 'rollout', id, '--percent', '10')).output, /enforcing for 10 % of users/)
  assert.match((await scene.run('policies', 'rollout', id)).output, /enforced for 10 % of users[^]*observed +0/)

  const add = ['policies', 'exceptions', 'add', id, '--user', 'ada', '--reason', 'A test']
  const added = await scene.run(...add, '--until', '7d')
  assert.match(added.output, /^exc_\w+: pol_\w+ is not enforced for user ada until /)
  const exception = /exc_\w+/.exec(added.output)?.[0] ?? ''
  assert.match((await scene.run('policies', 'exceptions', 'list')).output, new RegExp(`${exception} .*user ada +live`))
  assert.equal((await scene.plan()).status, 0)
  assert.match((await scene.run('policies', 'exceptions', 'end', id, exception)).output, /has ended/)
  assert.match((await scene.run('policies', 'exceptions', 'list', id)).output, /ended/)
  assert.match((await scene.run(...add, '--until', '31d')).errors, /at most 30 days ahead/)
  assert.equal((await scene.run(...add, '--key', 'key_1', '--until', '7d')).status, 2)
})
