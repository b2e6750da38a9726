import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { adminOf } from '../support/administration.ts'
import { openAsCode } from '../support/as-code.ts'

const described = `
upstreams:
  - name: own
    kind: openai-chat
    base_url: http://127.0.0.1:9/v1
    api_key: \${OWN_KEY}
models:
  - name: support
    targets: [{ upstream: own, model: large }]
    price: { input: 1, output: 2 }
`

it('plan and apply create upstreams and models, change them and then find nothing to do', async () => {
  await using scene = await openAsCode()
  scene.env['OWN_KEY'] = 'sk-of-the-organization-1234'
  scene.write(described)
  const plan = await scene.plan()
  assert.match(plan.output, /create upstream own[\s\S]*\+ api_key: \(secret\)[\s\S]*create model support/)
  const applied = await scene.apply()
  assert.equal(applied.status, 0, applied.errors)
  assert.match((await scene.plan()).output, /Plan: 0 to create, 0 to change, 2 unchanged/)

  scene.write(
    described.replace('output: 2 }', 'output: 3 }').replace('kind: openai-chat', 'kind: openai-chat\n    paused: true'),
  )
  const changed = await scene.apply()
  assert.match(changed.output, /\+ paused: true/)
  assert.match(changed.output, /- price.output: 2\n +\+ price.output: 3/)
  const admin = adminOf(scene.app.url, scene.app.adminKey)
  const { paused, settings } = (await admin.get('/upstreams/own')) as { paused: boolean; settings: object }
  assert.deepEqual(
    [paused, settings],
    [true, { kind: 'openai-chat', base_url: 'http://127.0.0.1:9/v1', api_key: '••••1234' }],
  )
  for (const { output, errors } of [plan, applied, changed])
    assert.ok(!`${output}${errors}`.includes('sk-of-the-organization'))
})

it('a secret in a file, and a variable that is missing, are reported before any change', async () => {
  await using scene = await openAsCode()
  scene.write(described)
  assert.match((await scene.apply()).errors, /all\.yaml:6: .*OWN_KEY/)
  scene.write(described.replace('${OWN_KEY}', 'sk-in-the-file'))
  assert.match((await scene.plan()).errors, /all\.yaml:6: api_key: is a secret: write \$\{NAME\}/)
  assert.match((await scene.run('models', 'list')).output, /gatehouse-echo/)
})

it('what export writes is planned as unchanged, and prune deletes models before their upstreams', async () => {
  await using scene = await openAsCode()
  scene.env['OWN_KEY'] = 'sk-of-the-organization-1234'
  scene.write(`owner: platform\n${described}`)
  await scene.apply()
  assert.equal((await scene.run('export', '-o', scene.files)).status, 0)
  writeFileSync(join(scene.files, 'all.yaml'), '')
  const upstreams = readFileSync(join(scene.files, 'upstreams.yaml'), 'utf8')
  assert.match(upstreams, /api_key: \$\{GATEHOUSE_UPS_\w+_API_KEY\}/)
  assert.match((await scene.plan()).output, /0 to create, 0 to change, /)

  const folder = scene.files
  for (const name of ['upstreams.yaml', 'models.yaml']) writeFileSync(join(folder, name), '')
  scene.write('owner: platform\n')
  const pruned = await scene.apply('--prune')
  assert.equal(pruned.status, 0, pruned.errors)
  assert.match(pruned.output, /delete model support[\s\S]*delete upstream own/)
})

it('the commands create, change, pause, show and delete', async () => {
  await using scene = await openAsCode()
  scene.env['OWN_KEY'] = 'sk-of-the-organization-1234'
  const file = (name: string, text: string): string => {
    writeFileSync(join(scene.path, name), text)
    return join(scene.path, name)
  }
  const upstream = file('upstream.yaml', 'name: own\nkind: anthropic\napi_key: ${OWN_KEY}\n')
  const model = file('model.yaml', 'models:\n  - name: support\n    targets: [{ upstream: own }]\n')
  assert.equal((await scene.run('upstreams', 'create', '-f', upstream)).status, 0)
  assert.equal((await scene.run('models', 'create', '-f', model)).status, 0)
  assert.match((await scene.run('models', 'list')).output, /^support +own +\d+ +0 +0 +this organization$/m)
  assert.match((await scene.run('models', 'pause', 'support')).output, /paused/)
  assert.match((await scene.run('models', 'list')).output, /this organization, paused$/m)
  assert.equal((await scene.json('models', 'resume', 'support')).paused, false)
  const change = file('change.yaml', 'max_output_tokens: 100\n')
  assert.equal((await scene.json('models', 'update', 'support', '-f', change)).max_output_tokens, 100)
  assert.match((await scene.run('upstreams', 'show', 'own')).output, /api_key: ••••1234/)
  assert.match((await scene.run('upstreams', 'delete', 'own')).errors, /Models use the upstream own: support/)
  assert.equal((await scene.run('models', 'delete', 'support')).status, 0)
  assert.equal((await scene.run('upstreams', 'delete', 'own')).status, 0)
})
