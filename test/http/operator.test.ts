import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { ApiError, createApiClient, socketTransport, type ApiClient } from '../../src/app/client/api-client.ts'
import type { OrganizationBody } from '../../src/http/resources/organization.ts'
import type { ProjectBody } from '../../src/http/admin/projects/schema.ts'
import { connect } from '../../src/app/client/connect.ts'
import { checkConfig } from '../../src/config/config.ts'
import { itemsOf, startAdminApp, type AdminApp } from '../support/administration.ts'
import { operatorOf } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const one = { requests_per_minute: 1, concurrent_requests: 1 }

describe('the control socket', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let app: AdminApp
  let client: ApiClient
  let socketPath: string

  before(async () => {
    folder = await temporaryFolder()
    app = await startAdminApp({ storage: { data_dir: folder.path } })
    socketPath = join(folder.path, 'control.sock')
    client = createApiClient(socketTransport(socketPath))
  })
  after(async () => {
    await app[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })

  it('can be opened by its owner only', () => assert.equal(statSync(socketPath).mode & 0o777, 0o600))

  it('serves every operator path, and no network port does', async () => {
    const { paths } = await client.get<{ paths: Record<string, Record<string, unknown>> }>('/openapi.json')
    const operatorPaths = Object.keys(paths).filter((path) => path.startsWith('/operator/'))
    assert.ok(operatorPaths.length > 15)
    assert.ok(paths['/v1/organization/policies'])
    for (const path of operatorPaths) {
      for (const method of Object.keys(paths[path] ?? {})) {
        const headers = { authorization: `Bearer ${app.adminKey}`, 'content-type': 'application/json' }
        const body = method === 'get' ? {} : { body: '{}' }
        const answer = await fetch(app.url + path, { method: method.toUpperCase(), headers, ...body })
        assert.equal(answer.status, 404, `${method} ${path}`)
      }
    }
    const network = JSON.stringify(await (await fetch(`${app.url}/openapi.json`)).json())
    assert.doesNotMatch(network, /\/operator/)
    assert.doesNotMatch(JSON.stringify(app.app.openapi()), /\/operator/)
  })

  it('does not serve inference', async () => {
    const body = { model: 'gatehouse-echo', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }
    await assert.rejects(client.post('/v1/messages', body), { status: 404, code: 'unknown_route' })
  })

  it('serves administration for the organization of the header, and audits the operator', async () => {
    const other = await operatorOf({ client }).createOrganization('Other')
    const project = await client
      .inOrganization(app.organizationId)
      .post<ProjectBody>('/v1/organization/projects', { name: 'By the operator' })
    const [entry] = itemsOf(await app.admin.get('/audit_logs?limit=1'))
    assert.deepEqual(
      [entry?.['kind'], entry?.['actor'], entry?.['resource_id'], entry?.['request_id']],
      ['project.created', { type: 'operator', id: null }, project.id, null],
    )
    const projectsOfOther = await client.inOrganization(other.id).list('/v1/organization/projects')
    assert.deepEqual(projectsOfOther.data, [])
    await assert.rejects(client.list('/v1/organization/projects'), {
      status: 422,
      message: 'There is more than one organization: name it with --org.',
    })
    await assert.rejects(client.inOrganization('org_none').list('/v1/organization/projects'), {
      status: 404,
      message: 'There is no organization org_none.',
    })
  })

  it('answers errors in the same format as the network API, with the field', async () => {
    const wrong = client.inOrganization(app.organizationId).post('/v1/organization/projects', { name: 1 })
    await assert.rejects(wrong, (error) => {
      assert.ok(error instanceof ApiError)
      assert.deepEqual([error.status, error.code, error.param], [422, 'invalid_parameter', 'name'])
      return true
    })
  })

  it('reads all pages of a list, or as many items as are needed', async () => {
    for (const name of ['A', 'B', 'C']) await operatorOf({ client }).createOrganization(name)
    const all = await client.list<OrganizationBody>('/operator/organizations')
    assert.deepEqual([all.data.length, all.has_more], [5, false])
    const newest = await client.list<OrganizationBody>('/operator/organizations', { order: 'desc' }, 2)
    assert.deepEqual(
      [newest.data.map(({ name }) => name), newest.has_more, newest.last_id],
      [['C', 'B'], true, newest.data[1]?.id],
    )
  })

  it('answers a request of any HTTP client', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const outgoing = request({ socketPath, path: '/operator/audit_log/keys' }, (incoming) => {
        text(incoming).then(resolve, reject)
      })
      outgoing.on('error', reject).end()
    })
    assert.equal(JSON.parse(answer).object, 'list')
  })
})

describe('the operator', () => {
  it('is not subject to the limits of administration', async () => {
    await using app = await startAdminApp({ config: { administration: { credential: one, organization: one } } })
    const lists = Array.from({ length: 5 }, () => app.app.client.list('/v1/organization/projects'))
    assert.equal((await Promise.all(lists)).length, 5)
    assert.equal((await app.admin.send('GET', '/projects')).status, 200)
    assert.equal((await app.admin.send('GET', '/projects')).status, 429)
  })

  it('has the same API without a running server, except for operations that need one', async () => {
    await using folder = await temporaryFolder()
    const config = checkConfig({ storage: { data_dir: join(folder.path, 'data') } })
    await using connection = await connect(config, { mayCreate: true })
    const operator = operatorOf(connection)
    await assert.rejects(operator.balance(), { message: 'There is no organization yet: run gatehouse setup.' })
    const { project_id: projectId } = await operator.setUp('First')
    await assert.rejects(operator.setUp('Second'), { status: 409, code: 'already_set_up' })
    const { data } = await connection.client.list<ProjectBody>('/v1/organization/projects')
    assert.deepEqual(
      data.map(({ id }) => id),
      [projectId],
    )
    await assert.rejects(connection.client.get('/v1/organization/limits'), {
      status: 503,
      message: 'This needs a running server: start it with gatehouse serve.',
    })
  })
})
