import assert from 'node:assert/strict'
import { readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { openAsCode } from '../support/as-code.ts'

const everything = `
organization: { limits: { rpm: 600 } }
projects:
  - name: Support chat
    limits: { tpd: 1000000 }
  - name: Search
api_keys:
  - { name: web, project: Support chat, models: [gatehouse-echo], expires_at: 2999-01-31, allowed_ips: [10.1.2.3/8], limits: { rpm: 60 } }
admin_api_keys:
  - { name: Pipeline, role: auditor }
export_sinks:
  - label: Security team
    type: splunk_hec
    enabled: false
    config: { url: 'http://127.0.0.1:9', token: '\${SPLUNK_TOKEN}' }
gateway:
  rules: { denylist: [falcon] }
policies:
  - { name: No code names, rule: 'Never mention "Falcon".', scope: projects, projects: [Support chat, Search] }
  - { name: Later, rule: 'cel:pii["email"] > 0', publish: false }
`
const token = '3f2b7c1e-9a55-4b8e-8a0e-3c1f0a6e2f11'

it('plan shows what apply then does, with the exit status 2, and afterwards nothing, with 0', async () => {
  await using scene = await openAsCode()
  scene.env['SPLUNK_TOKEN'] = token
  scene.write(everything)
  const plan = await scene.plan()
  assert.equal(plan.status, 2)
  assert.match(plan.output, /create project Search/)
  assert.match(plan.output, /\+ allowed_ips: \["10\.0\.0\.0\/8"\]/)
  assert.match(
    plan.output,
    /create and publish policy No code names\n.*\n.*\n.*\n +\+ projects: \["Support chat","Search"\]/,
  )
  assert.match(plan.output, /Plan: 7 to create, 2 to change, 0 unchanged\.$/)
  assert.equal((await scene.json('projects', 'list')).data.length, 1)

  const applied = await scene.apply('--json')
  assert.equal(applied.status, 0, applied.errors)
  assert.deepEqual(
    JSON.parse(applied.output).done.map(({ kind, name }: Record<string, string>) => `${kind} ${name}`.trim()),
    [
      'organization',
      'project Support chat',
      'project Search',
      'API key web',
      'administrator key Pipeline',
      'export sink Security team',
      'gateway configuration',
      'policy No code names',
      'policy Later',
    ],
  )
  assert.deepEqual(await scene.plan(), {
    status: 0,
    output: 'Plan: 0 to create, 0 to change, 9 unchanged.',
    errors: '',
  })
  const { data: policies } = await scene.json('policies', 'list')
  assert.deepEqual(
    policies.map(({ state }: { state: string }) => state),
    ['monitoring', 'draft'],
  )
})

it('apply changes the fields that differ, and removes what the files leave out', async () => {
  await using scene = await openAsCode()
  scene.env['SPLUNK_TOKEN'] = token
  scene.write(everything)
  await scene.apply()
  scene.write(
    everything
      .replace('rpm: 600', 'rpm: 30')
      .replace('    limits: { tpd: 1000000 }\n', '')
      .replace(', expires_at: 2999-01-31, allowed_ips: [10.1.2.3/8], limits: { rpm: 60 }', '')
      .replace('role: auditor', "permissions: ['policies:read']")
      .replace('127.0.0.1:9', '127.0.0.2:9')
      .replace('[falcon]', '[eagle]')
      .replace(', Search]', ']'),
  )
  const applied = await scene.apply()
  assert.equal(applied.status, 0, applied.errors)
  for (const line of [
    '- limits.rpm: 600\n    + limits.rpm: 30',
    '- limits.tpd: 1000000',
    '- expires_at: 2999-01-31T00:00:00Z\n    - allowed_ips: ["10.0.0.0/8"]\n    - limits.rpm: 60',
    '- permissions: system:read',
    '- config.url: http://127.0.0.1:9\n    + config.url: http://127.0.0.2:9\n    + config.token: (secret)',
    '- rules.denylist: falcon\n    + rules.denylist: eagle',
    '- projects: Support chat, Search\n    + projects: Support chat',
  ])
    assert.ok(applied.output.includes(line), `${line}\nin\n${applied.output}`)
  assert.equal((await scene.plan()).status, 0)
})

it('apply without --yes and without a terminal changes nothing', async () => {
  await using scene = await openAsCode()
  scene.write('projects: [{ name: Search }]')
  const { status, errors } = await scene.run('apply', '-f', scene.files)
  assert.equal(status, 1)
  assert.match(errors, /create project Search/)
  assert.equal((await scene.json('projects', 'list')).data.length, 1)
})

it('secrets of new keys go to a file that only its owner can read, and not to the output', async () => {
  await using scene = await openAsCode()
  scene.write('admin_api_keys: [{ name: Pipeline, role: auditor }]')
  const file = join(scene.path, 'secrets.jsonl')
  const { status, output } = await scene.apply('--secrets-file', file)
  assert.equal(status, 0)
  const secret = JSON.parse(readFileSync(file, 'utf8'))
  assert.match(secret.value, /^adm_/)
  assert.equal(secret.name, 'Pipeline')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.ok(!output.includes(secret.value))
})

it('secrets of new keys are printed once where there is no file for them', async () => {
  await using scene = await openAsCode()
  scene.write('api_keys: [{ name: web, project: Default project }]')
  assert.match((await scene.apply()).output, /Default project, web \(key_\w+\): ak_\w+\nDone\.$/)
  assert.ok(!(await scene.apply()).output.includes('ak_'))
})

it('a file for secrets inside the folder is rejected before any change', async () => {
  await using scene = await openAsCode()
  scene.write('projects: [{ name: Search }]')
  const { status, errors } = await scene.apply('--secrets-file', join(scene.files, 'secrets.jsonl'))
  assert.equal(status, 2)
  assert.match(errors, /is in the folder of the resources/)
  assert.equal((await scene.json('projects', 'list')).data.length, 1)
})

it('a secret of an existing sink is sent again only with --update-secrets', async () => {
  await using scene = await openAsCode()
  scene.env['SPLUNK_TOKEN'] = token
  scene.write(everything)
  await scene.apply()
  delete scene.env['SPLUNK_TOKEN']
  assert.equal((await scene.plan()).status, 0)
  assert.match((await scene.plan('--update-secrets')).output, /\+ config\.token: \(secret\)/)
  const missing = await scene.apply('--update-secrets')
  assert.equal(missing.status, 1)
  assert.match(missing.errors, /all\.yaml:15: config\.token: the variable SPLUNK_TOKEN is not set\./)
  scene.env['SPLUNK_TOKEN'] = 'ffffffff-9a55-4b8e-8a0e-3c1f0a6effff'
  assert.equal((await scene.apply('--update-secrets')).status, 0)
  const { data } = await scene.json('sinks', 'list')
  assert.equal(data[0].config.token, '••••ffff')
})

it('the first failure ends it, says what was done, and a second run continues', async () => {
  await using scene = await openAsCode()
  // The first policy cannot be published, because its scope has no project.
  scene.write(`
projects: [{ name: Search }]
policies:
  - { name: First, rule: 'Never mention "Falcon".', scope: projects }
  - { name: Second, rule: 'Never mention "Eagle".' }
`)
  const failed = await scene.apply()
  assert.equal(failed.status, 1)
  assert.match(failed.errors, /^create policy First: The scope is projects/)
  assert.match(failed.output, /1 of 3 changes were made\. Run the command again/)
  scene.write(`
projects: [{ name: Search }]
policies:
  - { name: First, rule: 'Never mention "Falcon".', scope: projects, projects: [Search] }
  - { name: Second, rule: 'Never mention "Eagle".' }
`)
  assert.equal((await scene.apply()).status, 0)
  assert.equal((await scene.plan()).status, 0)
})

it('a paused policy stays paused while its file stays the same', async () => {
  await using scene = await openAsCode()
  scene.write(`policies: [{ name: First, rule: 'Never mention "Falcon".' }]`)
  await scene.apply()
  const { data } = await scene.json('policies', 'list')
  await scene.run('policies', 'pause', data[0].id)
  assert.equal((await scene.plan()).status, 0)
})

it('a project that is archived is unarchived if a file describes it', async () => {
  await using scene = await openAsCode()
  const policy = { name: 'Scoped', rule: 'Never say "no".', scope: 'projects', projects: ['Search'] }
  scene.write(JSON.stringify({ projects: [{ name: 'Search' }], policies: [policy] }))
  assert.equal((await scene.apply()).status, 0)
  const { data } = await scene.json('projects', 'list')
  await scene.run('projects', 'archive', data[1].id)
  assert.match((await scene.plan()).output, /- status: archived\n +\+ status: active/)
  assert.equal((await scene.apply()).status, 0)
  assert.equal((await scene.plan()).status, 0)
})

it('an id in a file renames the resource that has it', async () => {
  await using scene = await openAsCode()
  const { data } = await scene.json('projects', 'list')
  scene.write(`
projects: [{ id: ${data[0].id}, name: Renamed }]
api_keys: [{ name: web, project: Renamed }]
`)
  assert.equal((await scene.apply()).status, 0)
  const { data: renamed } = await scene.json('projects', 'list')
  assert.deepEqual(
    renamed.map(({ id, name }: Record<string, string>) => [id, name]),
    [[data[0].id, 'Renamed']],
  )
})

it('control characters in names and values are escaped, so that they cannot hide or add lines of a plan', async () => {
  await using scene = await openAsCode()
  scene.write(String.raw`
owner: platform
projects: [{ name: "a\e[2K\rb\nPlan: 0 to create" }]
api_keys: [{ name: "key\x9b2K", project: Default project }]
policies: [{ name: "p\u202eq", rule: "Never mention x.\nPlan: nothing\e[8m" }]
`)
  const plan = await scene.plan()
  assert.match(plan.output, /^create project a\\u001b\[2K\\u000db\\nPlan: 0 to create$/m)
  assert.match(plan.output, /^create and publish policy p\\u202eq$/m)
  const asked = await scene.run('apply', '-f', scene.files)
  const applied = await scene.apply()
  assert.equal(applied.status, 0, applied.errors)
  assert.match(applied.output, /key\\u009b2K \(key_/)
  scene.write('owner: platform')
  const pruned = await scene.plan('--prune')
  assert.match(pruned.output, /archive project a\\u001b\[2K/)
  for (const text of [plan.output, asked.errors, applied.output, pruned.output]) {
    assert.doesNotMatch(text, /[^\P{C}\n]/u)
    assert.equal(text.match(/^ *Plan: /gm)?.length, 1, text)
  }
})

it('control characters in a mistake and in a failure are escaped', async () => {
  await using scene = await openAsCode()
  scene.write(String.raw`api_keys: [{ name: a, project: "no\e[2K\nwhere" }]`)
  assert.match((await scene.plan()).errors, /there is no project no\\u001b\[2K\\nwhere/)
  // The policy cannot be published, because its scope has no project.
  scene.write(String.raw`policies: [{ name: "a\e[2K\nb", rule: 'Never mention "Falcon".', scope: projects }]`)
  assert.match((await scene.apply()).errors, /^create policy a\\u001b\[2K\\nb: The scope is projects/)
})

it('a file for secrets is recognised as inside the folder by its real path, whatever its name is', async () => {
  await using scene = await openAsCode()
  scene.write('projects: [{ name: Search }]')
  const link = join(scene.path, 'link')
  symlinkSync(scene.files, link)
  const linkedFile = join(scene.path, 'linked.jsonl')
  symlinkSync(join(scene.files, 'target.jsonl'), linkedFile)
  const rejected = async (file: string): Promise<string> => {
    const { status, errors } = await scene.apply('--secrets-file', file)
    assert.equal(status, 2, file)
    return errors
  }
  for (const file of [join(scene.files, '..keys.jsonl'), join(link, 'keys.jsonl')])
    assert.match(await rejected(file), /is in the folder of the resources/)
  assert.match(await rejected(linkedFile), /is a link to a file that does not exist/)
  assert.equal((await scene.run('apply', '-f', link, '--secrets-file', join(scene.files, 'x'))).status, 2)
  assert.equal((await scene.apply('--secrets-file', join(scene.path, '..keys.jsonl'))).status, 0)
})
