import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { openAsCode } from '../support/as-code.ts'

const files = `owner: platform
projects:
  - name: Support chat
alert_channels:
  - name: On call
    kind: webhook
    config: { url: 'http://127.0.0.1:9/hook', secret: '\${HOOK_SECRET}' }
alert_rules:
  - name: Spending
    kind: spend
    threshold: 100
    project: Support chat
    channels: [On call]
  - name: Denials
    kind: denials
    window: 1h
`

it('plan, apply and export manage alert channels and rules, which refer to each other by name', async () => {
  await using scene = await openAsCode()
  scene.env['HOOK_SECRET'] = 'a-secret-of-the-webhook-0123'
  scene.write(files)
  const planned = await scene.plan()
  assert.match(planned.output, /create alert channel On call[\s\S]*create alert rule Spending/)
  assert.ok(!planned.output.includes('a-secret'))
  const applied = await scene.apply()
  assert.equal(applied.status, 0, applied.errors)
  assert.match((await scene.plan()).output, /0 to create, 0 to change, 4 unchanged/)
  const { data: rules } = await scene.json('alerts', 'rules')
  const { data: channels } = await scene.json('alerts', 'channels')
  const spending = rules.find((rule: { name: string }) => rule.name === 'Spending')
  assert.deepEqual([spending.channel_ids, spending.managed_by], [[channels[0].id], 'platform'])
  assert.match(spending.filter.project_id, /^proj_/)

  scene.write(files.replace('threshold: 100', 'threshold: 200').replace('127.0.0.1:9/hook', '127.0.0.1:9/other'))
  const changed = await scene.plan()
  assert.match(
    changed.output,
    /config\.url: .*other[\s\S]*config\.secret: .*\(secret\)[\s\S]*threshold: 100 -> 200|threshold/,
  )
  assert.equal((await scene.apply()).status, 0)

  assert.equal((await scene.run('export', '-o', join(scene.path, 'out'))).status, 0)
  const exported = readFileSync(join(scene.path, 'out', 'alert_rules.yaml'), 'utf8')
  assert.match(exported, /project: Support chat/)
  assert.match(exported, /channels:\n +- On call/)
  assert.match(
    readFileSync(join(scene.path, 'out', 'alert_channels.yaml'), 'utf8'),
    /secret: \$\{GATEHOUSE_CHAN_\w+_SECRET\}/,
  )
  const again = await scene.run('plan', '-f', join(scene.path, 'out'))
  assert.match(again.output, /0 to create, 0 to change/)

  scene.write('owner: platform\nprojects:\n  - name: Support chat\n')
  assert.equal((await scene.apply('--prune')).status, 0)
  assert.deepEqual((await scene.json('alerts', 'rules')).data, [])
  assert.deepEqual((await scene.json('alerts', 'channels')).data, [])
})

it('mistakes in alerts are reported with their line before any change', async () => {
  await using scene = await openAsCode()
  scene.write(`alert_channels:
  - name: On call
    kind: webhook
    config: { url: 'http://127.0.0.1:9', secret: in-plain-text-which-is-long }
alert_rules:
  - name: Spending
    kind: spend
  - name: Denials
    kind: denials
    channels: [Nobody]
`)
  const { status, errors } = await scene.plan()
  assert.notEqual(status, 0)
  assert.match(errors, /:4: config\.secret: is a secret/)
  assert.match(errors, /:6: threshold: is required/)
  assert.match(errors, /:10: channels: there is no alert channel Nobody/)
})
