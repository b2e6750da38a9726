import assert from 'node:assert/strict'
import { it } from 'node:test'
import { itemsOf, textOf } from '../support/administration.ts'
import { openAsCode } from '../support/as-code.ts'

const gate = `
publish_gate:
  replay: { level: require, newly_blocked_bp: 300, min_events: 100 }
`
const policy = (rule: string, more = ''): string => `
policies:
  - name: No code names
    rule: ${rule}
    mode: enforcing
    direction: request
${more}`

/** 100 recorded requests, of which two ask about Falcon. */
async function openRecorded() {
  const scene = await openAsCode({ audit: { content: 'full' } })
  for (let at = 0; at < 100; at += 1) {
    const content = at < 2 ? `What is Falcon? ${at}` : `Hello ${at}`
    const body = { model: 'gatehouse-echo', max_tokens: 8, messages: [{ role: 'user', content }] }
    assert.equal((await scene.app.post('/v1/messages', body)).status, 200)
  }
  return scene
}

it('a draft that denies 2 % of recorded requests is published by no command without an override', async () => {
  await using scene = await openRecorded()
  scene.write(gate + policy('Never mention "Falcon".'))
  const applied = await scene.apply()
  assert.equal(applied.status, 1)
  assert.match(
    applied.errors,
    /2 of 100 recorded requests would newly be denied: at most 6\.17 %, where 3 % is allowed/,
  )
  const [created] = itemsOf(await scene.app.admin.get('/policies'))
  assert.equal(created?.['state'], 'draft')

  const id = textOf(created ?? {})
  const run = await scene.run('policies', 'gate', id)
  assert.equal(run.status, 4)
  assert.match(run.output, /newly blocked +require +failed/)
  assert.match(run.output, /evt_/)
  const rejected = await scene.run('policies', 'publish', id)
  assert.equal(rejected.status, 1)
  assert.match(rejected.errors, /has not passed the publish gate/)

  const published = await scene.apply('--override', 'A leak is going on')
  assert.equal(published.status, 0, published.errors)
  assert.match(JSON.stringify(await scene.app.admin.get('/audit_logs?kind=policy.published')), /A leak is going on/)
})

it('apply and publish run the gate first where it requires a run', async () => {
  await using scene = await openRecorded()
  scene.write(gate + policy('Never mention "Condor".'))
  const { status, errors } = await scene.apply()
  assert.equal(status, 0, errors)
  const [created] = itemsOf(await scene.app.admin.get('/policies'))
  assert.equal(created?.['state'], 'enforcing')
  assert.equal((await scene.plan()).status, 0)

  const id = textOf(created ?? {})
  await scene.run('policies', 'update', id, '--rule', 'Never mention "Vulture".')
  assert.match((await scene.run('policies', 'publish', id)).output, /enforcing, revision 4, version 2/)
})

it('a gateway configuration passes the same gate, and apply runs it first', async () => {
  await using scene = await openRecorded()
  const gateway = (term: string): string => `${gate}\ngateway: { rules: { denylist: [${term}] } }\n`
  scene.write(gateway('falcon'))
  const rejected = await scene.apply()
  assert.equal(rejected.status, 1)
  assert.match(rejected.errors, /2 of 100 recorded requests would newly be denied/)
  assert.equal((await scene.apply('--override', 'A leak is going on')).status, 0)
  scene.write(gateway('condor'))
  const { status, errors } = await scene.apply()
  assert.equal(status, 0, errors)
})

it('the gate of the organization and of a policy are planned, applied and exported', async () => {
  await using scene = await openAsCode()
  const own = '    publish_gate: { shadow: { level: require, hours: 48 } }\n    publish: false\n'
  scene.write(gate + policy('Never mention "Falcon".', own))
  const planned = await scene.plan()
  assert.match(planned.output, /update publish gate\n +\+ replay\.level: require/)
  assert.match(planned.output, /\+ publish_gate\.shadow\.hours: 48/)
  assert.equal((await scene.apply()).status, 0)
  assert.equal((await scene.plan()).status, 0)
  const { output } = await scene.run('export')
  assert.match(output, /^publish_gate:\n {2}replay:\n {4}level: require/m)
  assert.match(output, /publish_gate:\n {6}shadow:\n {8}level: require\n {8}hours: 48/)
  scene.write('publish_gate: { replay: { level: maybe } }\n')
  assert.match((await scene.plan()).errors, /publish_gate\.replay\.level/)
})

it('a draft is approved by another person than its author', async () => {
  await using scene = await openAsCode()
  const { admin } = scene.app
  await admin.send('PUT', '/publish_gate', { body: { revision: 0, approvals: { level: 'require' } } })
  const id = textOf(await admin.post('/policies', { name: 'Mine', rule: 'Say "no"' }))
  const { id: run } = await scene.json('policies', 'gate', id)
  assert.equal((await scene.run('policies', 'publish', id)).status, 1)
  const approved = await scene.run('policies', 'approve', id, '--gate-run', run)
  assert.match(approved.output, /approvals +require +passed/)
  assert.equal((await scene.run('policies', 'publish', id)).status, 0)
  assert.equal((await scene.run('policies', 'approve', id)).status, 2)
})
