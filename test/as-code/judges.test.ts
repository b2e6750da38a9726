import assert from 'node:assert/strict'
import { it } from 'node:test'
import { parse } from 'yaml'
import { itemsOf } from '../support/administration.ts'
import { openAsCode } from '../support/as-code.ts'

const file = `
judges:
  - name: Strict
    model: gatehouse-echo
    timeout_ms: 900
    prompt:
      template: { system: 'Rule: {{rule}}', user: '{{text}}' }
  - { name: Plain, model: gatehouse-echo }
`

it('judges in files are created, changed as new versions, and exported as they were written', async () => {
  await using scene = await openAsCode()
  scene.write(file)
  assert.match((await scene.plan()).output, /create judge Strict[\s\S]*create judge Plain/)
  assert.equal((await scene.apply()).status, 0)
  assert.match((await scene.plan()).output, /0 to create, 0 to change/)
  const exported = await scene.run('export')
  assert.deepEqual(parse(exported.output)['judges'], parse(file)['judges'])
  scene.write(file.replace('timeout_ms: 900', 'timeout_ms: 800'))
  assert.match((await scene.plan()).output, /update judge Strict[\s\S]*- timeout_ms: 900\s+\+ timeout_ms: 800/)
  assert.equal((await scene.apply()).status, 0)
  const strict = itemsOf(await scene.app.admin.get('/judges')).find(({ name }) => name === 'Strict')
  assert.deepEqual([strict?.['version'], strict?.['timeout_ms']], [2, 800])
})

it('a mistake in a judge is reported with its line, before any change', async () => {
  await using scene = await openAsCode()
  scene.write('judges:\n  - name: Strict\n    model: gatehouse-echo\n    fail: perhaps\n')
  const { status, errors } = await scene.apply()
  assert.equal(status, 1)
  assert.match(errors, /all\.yaml:4: .*fail/)
})

it('gatehouse judges adds, changes, shows, calibrates, shadows, activates and retires a judge', async () => {
  await using scene = await openAsCode()
  const { id } = await scene.json('judges', 'add', '--name', 'Strict', '--model', 'gatehouse-echo', '--fail', 'open')
  assert.match((await scene.run('judges', 'list')).output, /Strict +gatehouse-echo +1 +draft +not calibrated/)
  assert.equal((await scene.json('judges', 'set', id, '--timeout-ms', '700')).version, 2)
  assert.match((await scene.run('judges', 'show', id)).output, /version 2, draft\n.*timeout 700 ms, fail open/)
  const policy = await scene.app.admin.post('/policies', { name: 'Polite', rule: 'Be polite.' })
  const label = { says: 'rude', given: { text: 'You fool' }, expect: 'match' }
  await scene.app.admin.post(`/policies/${String(policy['id'])}/cases`, label)
  const calibrated = await scene.run('judges', 'calibrate', id)
  assert.equal(calibrated.status, 4, calibrated.errors)
  assert.match(calibrated.output, /It gave an answer to \d+ labels; 50 are needed/)
  assert.match((await scene.run('judges', 'shadow', id, '--share', '500')).output, /version 2 is the shadow of 5 %/)
  const refused = await scene.run('judges', 'activate', id)
  assert.equal(refused.status, 1)
  assert.match(refused.errors, /cannot take over/)
  const active = await scene.run('judges', 'activate', id, '--override', 'Only for this test')
  assert.match(active.output, /version 2, active/)
  assert.match((await scene.run('judges', 'retire', id)).output, /version 2, retired/)
  assert.equal((await scene.run('judges', 'delete', id)).status, 0)
})
