import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { it } from 'node:test'
import { openAsCode } from '../support/as-code.ts'

type Scene = Awaited<ReturnType<typeof openAsCode>>
type Change = { readonly kind: string; readonly action: string; readonly name: string; readonly id: string | null }

const changesOf = async ({ json, files }: Scene): Promise<Change[]> => (await json('plan', '-f', files)).changes

/** Applies the files, and returns the id of each resource by its name. */
async function applied({ json, files }: Scene): Promise<Map<string, string>> {
  const { done, error } = await json('apply', '-f', files, '--yes')
  assert.equal(error, null)
  return new Map(done.map(({ name, id }: Change) => [name, id]))
}

/** Ends a key in the database, because the API accepts no time in the past. */
function expire({ path }: Scene, table: 'api_key' | 'admin_key', id: string): void {
  using database = new DatabaseSync(join(path, 'data', 'gatehouse.db'), { timeout: 30_000 })
  const { changes } = database.prepare(`update ${table} set expires_at = ? where id = ?`).run(pastMs, id)
  assert.equal(changes, 1)
}

const past = '2020-01-31T12:00:00Z'
const pastMs = Date.parse(past)

it('a resource that is renamed by its id leaves its old name to a new one, in any order of the entries', async () => {
  await using scene = await openAsCode()
  scene.write(`
projects: [{ name: Search }]
policies: [{ name: Names, rule: 'Never mention "Falcon".' }]
admin_api_keys: [{ name: Pipeline, role: auditor }]
export_sinks: [{ label: Archive, type: otlp_logs, enabled: false, config: { url: 'http://127.0.0.1:9' } }]
`)
  const ids = await applied(scene)
  const sink = "type: otlp_logs, enabled: false, config: { url: 'http://127.0.0.1:9' }"
  scene.write(`
projects: [{ name: Search }, { id: ${ids.get('Search')}, name: Search 2 }]
policies: [{ name: Names, rule: 'Never mention "Eagle".' }, { id: ${ids.get('Names')}, name: Names 2, rule: 'Never mention "Falcon".' }]
admin_api_keys: [{ name: Pipeline, role: auditor }, { id: ${ids.get('Pipeline')}, name: Pipeline 2, role: auditor }]
export_sinks: [{ label: Archive, ${sink} }, { id: ${ids.get('Archive')}, label: Archive 2, ${sink} }]
`)
  const renamed = await applied(scene)
  for (const name of ['Search', 'Names', 'Pipeline', 'Archive']) {
    assert.equal(renamed.get(`${name} 2`), ids.get(name))
    assert.notEqual(renamed.get(name), ids.get(name))
  }
  assert.equal((await scene.plan()).status, 0)
})

it('keys whose names and projects look the same when they are joined are no duplicates', async () => {
  await using scene = await openAsCode()
  scene.write(`
projects: [{ name: c }, { name: b c }]
api_keys: [{ name: a b, project: c }, { name: a, project: b c }]
`)
  assert.equal((await applied(scene)).size, 4)
})

it('a key that is described under the name and under the id of its project is a duplicate', async () => {
  await using scene = await openAsCode()
  scene.write('projects: [{ name: Search }]')
  const ids = await applied(scene)
  scene.write(`api_keys:\n  - { name: a, project: Search }\n  - { name: a, project: ${ids.get('Search')} }`)
  assert.match((await scene.plan()).errors, /all\.yaml:3: the same resource is described in .*all\.yaml:2\.$/m)
})

it('a project name that two projects have must be an id', async () => {
  await using scene = await openAsCode()
  const { admin } = scene.app
  const twins = [await admin.post('/projects', { name: 'Twin' }), await admin.post('/projects', { name: 'Twin' })]
  scene.write(`
api_keys: [{ name: web, project: Twin }]
policies: [{ name: Names, rule: 'Never mention "Falcon".', scope: projects, projects: [Twin] }]
`)
  const { status, errors } = await scene.apply()
  assert.equal(status, 1)
  assert.match(errors, /all\.yaml:2: project: 2 projects have the name Twin \(proj_\w+, proj_\w+\); use an id\.$/m)
  assert.match(errors, /all\.yaml:3: projects\[0\]: 2 projects have the name Twin/)
  scene.write(`api_keys: [{ name: web, project: ${String(twins[1]?.['id'])} }]`)
  assert.equal((await applied(scene)).size, 1)
})

it('an expired key is not made to work again by an entry with its name', async () => {
  await using scene = await openAsCode()
  const files = `
api_keys: [{ name: web, project: Default project }]
admin_api_keys: [{ name: Pipeline, role: auditor }]
`
  scene.write(files)
  const ids = await applied(scene)
  expire(scene, 'api_key', ids.get('web') ?? '')
  expire(scene, 'admin_key', ids.get('Pipeline') ?? '')
  const changes = await changesOf(scene)
  assert.deepEqual(
    changes.map(({ action, name, id }) => ({ action, name, id })),
    [
      { action: 'create', name: 'web', id: null },
      { action: 'create', name: 'Pipeline', id: null },
    ],
  )
  scene.write(files.replaceAll(' }]', `, expires_at: '${past}' }]`))
  assert.deepEqual(await changesOf(scene), [])
  scene.write(`api_keys: [{ id: ${ids.get('web')}, name: web, project: Default project }]`)
  assert.deepEqual(
    (await changesOf(scene)).map(({ action, id }) => [action, id]),
    [['update', ids.get('web')]],
  )
})

it('an end in the past is reported before the first change', async () => {
  await using scene = await openAsCode()
  scene.write(`
api_keys:
  - { name: web, project: Default project, expires_at: '${past}' }
admin_api_keys:
  - { name: Pipeline, role: auditor, expires_at: '${past}' }
`)
  const { status, errors } = await scene.apply()
  assert.equal(status, 1)
  assert.deepEqual(
    errors.split('\n').map((line) => line.replace(/^.*all\.yaml/, '')),
    [`:3: expires_at: ${past} is in the past.`, `:5: expires_at: ${past} is in the past.`],
  )
})
