import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createApiClient, socketTransport } from '../../src/app/client/api-client.ts'
import { itemsOf } from '../support/administration.ts'
import { openAsCode } from '../support/as-code.ts'
import { join } from 'node:path'

const names = Array.from({ length: 8 }, (_, at) => `Project ${at}`)
const files = `owner: platform
projects: [${names.map((name) => `{ name: ${name} }`).join(', ')}]
api_keys: [{ name: batch, project: Project 0 }]
`

type Scene = Awaited<ReturnType<typeof openAsCode>>

const namesOf = async ({ app }: Scene, path: string): Promise<string[]> =>
  itemsOf(await app.admin.get(`${path}?limit=100`))
    .map(({ name }) => String(name))
    .filter((name) => names.includes(name) || name === 'batch')
    .sort((a, b) => a.localeCompare(b))

const clientOf = ({ path }: Scene) => createApiClient(socketTransport(join(path, 'data', 'control.sock')))
const leasePath = '/v1/organization/apply_lease'

describe('two applies of the same files', () => {
  it('create each resource once when they run at the same time', async () => {
    await using scene = await openAsCode()
    scene.write(files)
    const results = await Promise.all([scene.apply(), scene.apply(), scene.apply()])
    assert.deepEqual(
      results.map(({ status }) => status),
      [0, 0, 0],
    )
    const made = results.filter(({ output }) => output.includes('create project'))
    assert.equal(made.length, 1)
    assert.deepEqual(await namesOf(scene, '/projects'), names)
    assert.deepEqual(await namesOf(scene, '/api_keys'), ['batch'])
    const plan = await scene.plan()
    assert.equal(plan.output, 'Plan: 0 to create, 0 to change, 9 unchanged.')
  })

  it('leave the organization to one of them: the other waits until it ends', async () => {
    await using scene = await openAsCode()
    scene.write(files)
    const client = clientOf(scene)
    await client.request('PUT', leasePath, { body: { holder: 'another', seconds: 2 } })
    await assert.rejects(client.request('PUT', leasePath, { body: { holder: 'mine', seconds: 2 } }), {
      status: 409,
      code: 'apply_in_progress',
    })
    // As after a kill: nobody releases the lease, and it expires.
    assert.equal((await scene.apply()).status, 0)
    assert.deepEqual(await namesOf(scene, '/projects'), names)
  })

  it('end with the one that has lost its lease', async () => {
    await using scene = await openAsCode()
    const client = clientOf(scene)
    const lease = (holder: string, seconds: number) => ({ body: { holder, seconds } })
    await client.request('PUT', leasePath, lease('paused', 1))
    const taken = async (): Promise<unknown> => client.request('PUT', leasePath, lease('next', 60)).catch(taken)
    await taken()
    await assert.rejects(client.request('PUT', leasePath, lease('paused', 1)), { code: 'apply_in_progress' })
    // A release by another holder changes nothing.
    await client.request('DELETE', leasePath, { query: { holder: 'paused' } })
    await assert.rejects(client.request('PUT', leasePath, lease('paused', 1)), { code: 'apply_in_progress' })
    await client.request('DELETE', leasePath, { query: { holder: 'next' } })
    await client.request('PUT', leasePath, lease('paused', 1))
  })
})
