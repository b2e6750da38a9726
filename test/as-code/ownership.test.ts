import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { scheduler } from 'node:timers/promises'
import { itemsOf } from '../support/administration.ts'
import { openAsCode } from '../support/as-code.ts'

const resources = (owner: string): string => `
owner: ${owner}
projects: [{ name: Search }]
api_keys: [{ name: web, project: Search }]
admin_api_keys: [{ name: Pipeline, role: auditor }]
export_sinks: [{ label: Archive, type: otlp_logs, enabled: false, config: { url: 'http://127.0.0.1:9' } }]
gateway: { rules: { denylist: [falcon] } }
policies: [{ name: No code names, rule: 'Never mention "Falcon".' }]
`
const withoutOwner = resources('x').replace('owner: x\n', '')

/** The owner of each kind of resource, as the API shows it. */
async function ownersIn({ app }: Awaited<ReturnType<typeof openAsCode>>): Promise<Record<string, unknown>> {
  const get = async (path: string): Promise<Record<string, unknown>> => {
    const response = await fetch(`${app.url}${path}`, { headers: { authorization: `Bearer ${app.admin.key}` } })
    return JSON.parse(await response.text())
  }
  const ofList = async (path: string, name: string): Promise<unknown> =>
    itemsOf(await get(path)).find((item) => [item['name'], item['label']].includes(name))?.['managed_by']
  return {
    project: await ofList('/v1/organization/projects', 'Search'),
    key: await ofList('/v1/organization/api_keys', 'web'),
    adminKey: await ofList('/v1/organization/admin_api_keys', 'Pipeline'),
    sink: await ofList('/api/policy-gateway/exports', 'Archive'),
    gateway: (await get('/api/policy-gateway/config'))['managed_by'],
    policy: await ofList('/v1/organization/policies', 'No code names'),
  }
}

/** The requests that delete, revoke or archive each of the resources. The project is the last one. */
async function removalsIn({ app }: Awaited<ReturnType<typeof openAsCode>>): Promise<[method: string, path: string][]> {
  const find = async (path: string, name: string): Promise<Record<string, unknown>> => {
    const response = await fetch(`${app.url}${path}`, { headers: { authorization: `Bearer ${app.admin.key}` } })
    const found = itemsOf(JSON.parse(await response.text())).find((item) =>
      [item['name'], item['label']].includes(name),
    )
    return found ?? assert.fail(`there is no ${name}`)
  }
  const organization = '/v1/organization'
  const policy = await find(`${organization}/policies`, 'No code names')
  const sink = await find('/api/policy-gateway/exports', 'Archive')
  const adminKey = await find(`${organization}/admin_api_keys`, 'Pipeline')
  const key = await find(`${organization}/api_keys`, 'web')
  const project = `${organization}/projects/${String(key['project_id'])}`
  return [
    ['DELETE', `${organization}/policies/${String(policy['id'])}?revision=${String(policy['revision'])}`],
    ['DELETE', `/api/policy-gateway/exports/${String(sink['id'])}`],
    ['DELETE', `${organization}/admin_api_keys/${String(adminKey['id'])}`],
    ['DELETE', `${project}/api_keys/${String(key['id'])}`],
    ['POST', `${project}/archive`],
  ]
}

const ownedBy = (owner: string | undefined): Record<string, unknown> => ({
  project: owner,
  key: owner,
  adminKey: owner,
  sink: owner,
  gateway: owner,
  policy: owner,
})

it('resources that apply creates are managed by the owner of the files, in the API and in lists', async () => {
  await using scene = await openAsCode()
  scene.write(resources('platform-config'))
  assert.equal((await scene.apply()).status, 0)
  assert.deepEqual(await ownersIn(scene), ownedBy('platform-config'))
  assert.equal((await scene.plan()).status, 0)
  for (const list of ['projects', 'keys', 'sinks', 'policies']) {
    const { output } = await scene.run(list, 'list')
    assert.match(output, /MANAGED BY\n/)
    assert.match(output, / platform-config$/m)
  }
})

it('existing resources without an owner get one, although nothing else of them changes', async () => {
  await using scene = await openAsCode()
  scene.write(withoutOwner)
  await scene.apply()
  assert.deepEqual(await ownersIn(scene), ownedBy(undefined))
  scene.write(resources('platform-config'))
  const { output } = await scene.plan()
  assert.match(output, /Plan: 0 to create, 6 to change, 0 unchanged\.$/)
  assert.equal(output.match(/^ {4}\+ managed_by: platform-config$/gm)?.length, 6)
  const applied = await scene.apply()
  assert.equal(applied.status, 0, applied.errors)
  assert.deepEqual(await ownersIn(scene), ownedBy('platform-config'))
  assert.equal((await scene.plan()).status, 0)
})

it('another owner gets resources with --take-over only', async () => {
  await using scene = await openAsCode()
  scene.write(resources('platform-config'))
  await scene.apply()
  scene.write(resources('other-config'))
  const refused = await scene.apply()
  assert.equal(refused.status, 1)
  assert.equal(refused.errors.split('\n').length, 6)
  assert.match(refused.errors, /all\.yaml:3: platform-config manages this resource: change it there, or take it over/)
  assert.deepEqual(await ownersIn(scene), ownedBy('platform-config'))
  assert.equal((await scene.apply('--take-over')).status, 0)
  assert.deepEqual(await ownersIn(scene), ownedBy('other-config'))
})

it('files without an owner cannot change a managed resource, and describe it as long as they do not', async () => {
  await using scene = await openAsCode()
  scene.write(resources('platform-config'))
  await scene.apply()
  scene.write(withoutOwner)
  assert.equal((await scene.plan()).status, 0)
  scene.write(withoutOwner.replace('falcon', 'eagle'))
  assert.match((await scene.plan()).errors, /platform-config manages this resource/)
})

it('a claim over the API is refused with 409 while other files manage the resource, and changes nothing', async () => {
  await using scene = await openAsCode()
  scene.write(resources('platform-config'))
  await scene.apply()
  const { admin } = scene.app
  const project = itemsOf(await admin.get('/projects')).find(({ name }) => name === 'Search')
  const rename = (headers: Record<string, string>) =>
    admin.send('PATCH', `/projects/${String(project?.['id'])}`, { body: { name: 'Renamed' }, headers })
  const refused = await rename({ 'x-gatehouse-managed-by': 'other-config' })
  assert.deepEqual([refused.status, refused.headers.get('x-gatehouse-error-code')], [409, 'managed_elsewhere'])
  assert.equal((await rename({ 'x-gatehouse-managed-by': 'not a name' })).status, 400)
  assert.ok(itemsOf(await admin.get('/projects')).some(({ name }) => name === 'Search'))
  const renamed = await rename({})
  assert.deepEqual([renamed.status, renamed.body['managed_by']], [200, 'platform-config'])
})

it('a deletion over the API that names another owner than the stored one is refused with 409', async () => {
  await using scene = await openAsCode()
  scene.write(resources('platform-config'))
  await scene.apply()
  const send = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const authorization = `Bearer ${scene.app.admin.key}`
    const response = await fetch(`${scene.app.url}${path}`, { method, headers: { authorization, ...headers } })
    return { code: response.headers.get('x-gatehouse-error-code') ?? '', status: response.status }
  }
  const other = { 'x-gatehouse-managed-by': 'other-config', 'x-gatehouse-take-over': 'true' }
  const removals = await removalsIn(scene)
  for (const [method, path] of removals)
    assert.deepEqual(await send(method, path, other), { code: 'managed_elsewhere', status: 409 }, path)
  assert.deepEqual(await ownersIn(scene), ownedBy('platform-config'))
  for (const [method, path] of removals) {
    const { status } = await send(method, path, { 'x-gatehouse-managed-by': 'platform-config' })
    assert.equal(status, 200, path)
  }
  const keys = await scene.json('keys', 'list')
  assert.ok(!JSON.stringify(keys).includes('platform-config'), 'a revoked key has no owner')
})

it('a deletion over the API that names an owner is refused for a resource without one', async () => {
  await using scene = await openAsCode()
  scene.write(withoutOwner)
  await scene.apply()
  for (const [method, path] of await removalsIn(scene)) {
    const headers = { authorization: `Bearer ${scene.app.admin.key}`, 'x-gatehouse-managed-by': 'platform-config' }
    assert.equal((await fetch(`${scene.app.url}${path}`, { method, headers })).status, 409, path)
  }
  assert.deepEqual(await ownersIn(scene), ownedBy(undefined))
})

it('a key that may publish policies but not write them cannot set their owner', async () => {
  await using scene = await openAsCode()
  scene.write(withoutOwner)
  await scene.apply()
  const [policy] = itemsOf(await scene.app.admin.get('/policies'))
  const publisher = await scene.app.adminWith(['policies:read', 'policies:publish'])
  const pause = (headers: Record<string, string>) =>
    publisher.send('POST', `/policies/${String(policy?.['id'])}/pause`, {
      body: { revision: policy?.['revision'] },
      headers,
    })
  const refused = await pause({ 'x-gatehouse-managed-by': 'platform-config' })
  assert.deepEqual([refused.status, refused.headers.get('x-gatehouse-error-code')], [403, 'permission_denied'])
  assert.deepEqual(await ownersIn(scene), ownedBy(undefined))
  assert.equal((await pause({})).status, 200)
})

it('the audit log has the owner that a change has set', async () => {
  await using scene = await openAsCode()
  scene.write(withoutOwner)
  await scene.apply()
  scene.write(resources('platform-config'))
  await scene.apply()
  const { data } = await scene.json('audit', 'list', '--limit', '6')
  assert.equal(JSON.stringify(data).match(/"managed_by":"platform-config"/g)?.length, 6, JSON.stringify(data))
})

it('--prune deletes what the owner manages and no file describes, and nothing else', async () => {
  await using scene = await openAsCode()
  scene.write('projects: [{ name: By hand }]')
  await scene.apply()
  scene.write('owner: other-config\nprojects: [{ name: Of others }]')
  await scene.apply()
  scene.write(resources('platform-config'))
  await scene.apply()
  scene.write('owner: platform-config\nprojects: [{ name: Kept }]')
  assert.match((await scene.plan()).output, /Plan: 1 to create, 0 to change, 0 unchanged\.$/)
  const plan = await scene.plan('--prune')
  assert.deepEqual([...plan.output.matchAll(/^(?:delete|revoke|archive) .*(?= \()/gm)].map(String), [
    'delete policy No code names',
    'delete export sink Archive',
    'revoke administrator key Pipeline',
    'revoke API key web',
    'archive project Search',
  ])
  const applied = await scene.apply('--prune')
  assert.equal(applied.status, 0, applied.errors)
  const { data } = await scene.json('projects', 'list')
  const active = data.filter(({ status }: { status: string }) => status === 'active')
  assert.deepEqual(active.map(({ name }: { name: string }) => name).slice(-3), ['By hand', 'Of others', 'Kept'])
  assert.equal((await scene.plan('--prune')).status, 0)
})

it('--prune without an owner in the files is rejected', async () => {
  await using scene = await openAsCode()
  scene.write('projects: [{ name: Search }]')
  const { status, errors } = await scene.apply('--prune')
  assert.equal(status, 2)
  assert.match(errors, /the files need an owner/)
})

it('--prune with a single file is rejected, because other files of the owner can describe the rest', async () => {
  await using scene = await openAsCode()
  scene.write(resources('platform-config'))
  await scene.apply()
  const file = join(scene.files, 'all.yaml')
  for (const args of [
    ['plan', '-f', file, '--prune'],
    ['apply', '-f', file, '--yes', '--prune'],
  ]) {
    const { status, errors } = await scene.run(...args)
    assert.notEqual(status, 0)
    assert.match(errors, /--prune: -f must be a folder/)
  }
  assert.equal((await scene.run('plan', '-f', file)).status, 0)
})

it('a plan that archives a project lists the keys of others in it, which stop working', async () => {
  await using scene = await openAsCode()
  scene.write(resources('platform-config'))
  await scene.apply()
  scene.write('api_keys: [{ name: By hand, project: Search }]')
  await scene.apply()
  scene.write('owner: platform-config')
  const { output } = await scene.plan('--prune')
  assert.match(output, /^archive project Search \(.*\)\n {4}API key By hand \(key_\w+\) stops working\nPlan: /m)
})

it('export with an owner writes what this owner manages, and plan finds no change in it', async () => {
  await using scene = await openAsCode()
  scene.write('projects: [{ name: By hand }]')
  await scene.apply()
  scene.write(resources('platform-config'))
  await scene.apply()
  const folder = join(scene.path, 'exported')
  const exported = await scene.json('export', '-o', folder, '--owner', 'platform-config')
  assert.deepEqual(exported.projects, [{ name: 'Search' }])
  assert.equal(exported.admin_api_keys.length, 1)
  assert.deepEqual(await scene.run('plan', '-f', folder, '--prune'), {
    status: 0,
    output: 'Plan: 0 to create, 0 to change, 6 unchanged.',
    errors: '',
  })
})

it('an owner cannot be set on a gateway configuration that a denial spike has disabled, which would enable it', async () => {
  await using scene = await openAsCode()
  const files = 'gateway: { rules: { denylist: [falcon] }, rollout: { rollback_on_spike: true } }'
  scene.write(files)
  assert.equal((await scene.apply()).status, 0)
  const config = async (): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${scene.app.admin.key}` }
    return JSON.parse(await (await fetch(`${scene.app.url}/api/policy-gateway/config`, { headers })).text())
  }
  await denySpike(scene)
  while ((await config())['rolled_back'] !== true) await scheduler.wait(20)
  assert.equal((await scene.plan()).status, 0)
  scene.write(`owner: platform-config\n${files}`)
  const { status, errors } = await scene.apply()
  assert.equal(status, 1)
  assert.match(errors, /all\.yaml:2: a denial spike has disabled the gateway configuration/)
  assert.partialDeepStrictEqual(await config(), { rolled_back: true })
  scene.write(`owner: platform-config\n${files.replace('falcon', 'eagle')}`)
  assert.match((await scene.plan()).output, /^ {4}- rolled_back: true\n {4}\+ rolled_back: false$/m)
})

/** Sends requests for several users, of which the last are denied. */
async function denySpike({ app }: Awaited<ReturnType<typeof openAsCode>>): Promise<void> {
  const statusOf = async (content: string, user: string): Promise<number> => {
    const body = { model: 'gatehouse-echo', max_tokens: 16, messages: [{ role: 'user', content }] }
    return (await app.post('/v1/messages', body, { authorization: `Bearer ${app.apiKey}`, 'x-policy-user': user }))
      .status
  }
  for (let count = 0; count < 14; count++) assert.equal(await statusOf('Hello', 'ann'), 200)
  for (let count = 0; count < 6; count++) assert.equal(await statusOf('About the falcon', `user ${count}`), 400)
}
