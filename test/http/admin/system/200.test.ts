import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { SystemBody } from '../../../../src/http/admin/system/schema.ts'
import { errorOf, startAdminApp, type AdminApp } from '../../../support/administration.ts'
import { answerJson, startUpstream, type TestUpstream } from '../../../support/upstream.ts'

const planted = {
  serverSecret: 'planted-server-secret-0123456789',
  previousSecret: 'planted-previous-secret-0123456789',
  upstreamKey: 'planted-upstream-key-0123456789',
  upstreamHeader: 'planted-upstream-header-0123456789',
  urlPassword: 'planted-url-password-0123456789',
  urlKey: 'planted-url-key-0123456789',
  tokenSecret: 'planted-token-secret-0123456789abcdef',
  classifierKey: 'planted-classifier-key-0123456789',
  awsKey: 'planted-aws-key-0123456789',
}

describe('GET /v1/organization/system', () => {
  let upstream: TestUpstream
  let app: AdminApp
  before(async () => {
    upstream = await startUpstream(answerJson({ error: { message: Object.values(planted).join(' ') } }, 400))
    const host = new URL(upstream.url).host
    app = await startAdminApp({
      config: {
        secret: planted.serverSecret,
        secret_previous: planted.previousSecret,
        upstreams: [
          {
            name: 'cloud',
            kind: 'openai-chat',
            base_url: `http://user:${planted.urlPassword}@${host}/v1/${planted.urlKey}`,
            api_key: planted.upstreamKey,
            headers: { 'x-team': planted.upstreamHeader },
          },
        ],
        models: [{ name: 'support', targets: [{ upstream: 'cloud' }] }],
        auth: { jwt: { issuer: 'https://id.example', audience: 'gatehouse', secret: planted.tokenSecret } },
        moderation: { classifier: { api_key: planted.classifierKey } },
        exports: { aws: { access_key_id: planted.awsKey, secret_access_key: planted.awsKey } },
      },
    })
  })
  after(async () => {
    await app[Symbol.asyncDispose]()
    await upstream[Symbol.asyncDispose]()
  })

  const read = async (): Promise<SystemBody> => (await app.admin.get('/system')) as unknown as SystemBody

  it('names the node, the storage engine and the nodes that are alive', async () => {
    const { node, nodes, storage, limits } = await read()
    assert.deepEqual([storage, limits, nodes], ['embedded', 'counted in this process', { count: 1, ids: [node.id] }])
    assert.match(node.id, /^node_/)
    assert.ok(node.started_at <= Date.now() / 1000)
  })

  it('has the effective settings with their origin', async () => {
    const { settings } = await read()
    const of = (key: string) => settings.find((setting) => setting.key === key)
    assert.deepEqual([of('server.port')?.value, of('server.port')?.origin], [0, 'file'])
    assert.deepEqual([of('log.level')?.value, of('log.level')?.origin], ['info', 'default'])
    assert.deepEqual([of('secret')?.value, of('secret')?.is_hidden], [null, true])
    assert.equal(of('upstreams[0].base_url')?.value, upstream.url)
    for (const { key, description } of settings) assert.notEqual(description, '', key)
  })

  it('reports what the node found about itself, with what to do', async () => {
    const { findings } = await read()
    const of = (part: string) => findings.find((finding) => finding.part === part)
    assert.equal(of('Node')?.state, 'ok')
    assert.deepEqual(of('storage'), { part: 'storage', state: 'ok', message: 'it works', fix: null })
    assert.equal(of('upstream cloud')?.message, 'not called since the start')
    assert.ok(findings.some(({ part }) => part.startsWith('job ')))
  })

  it('contains no secret of the configuration, and neither do models, upstreams and probes', async () => {
    const probe = await app.admin.send('POST', '/upstreams/cloud/probe')
    assert.deepEqual([probe.status, probe.body['success']], [200, false])
    const own = { own: app.adminKey, api: app.apiKey }
    const answers = {
      system: await read(),
      models: await app.admin.get('/models'),
      upstreams: await app.admin.get('/upstreams'),
    }
    for (const [answer, body] of Object.entries(answers))
      for (const [name, secret] of Object.entries({ ...planted, ...own }))
        assert.ok(!JSON.stringify(body).includes(secret), `${name} stands in ${answer}`)
    for (const name of ['upstreamKey', 'upstreamHeader', 'urlPassword', 'urlKey'] as const)
      assert.ok(!JSON.stringify(probe.body).includes(planted[name]), `${name} stands in the probe`)
  })

  it('is the same for every organization, and needs the permission', async () => {
    const { admin } = await app.otherOrganization()
    assert.deepEqual((await admin.get('/system'))['settings'], (await read()).settings)
    const without = await app.adminWith(['audit:read', 'system:probe'])
    assert.equal((await without.send('GET', '/system')).status, 403)
  })
})

describe('GET /v1/organization/system where administration.system_visible is false', () => {
  it('is for the operator only', async () => {
    const limit = { requests_per_minute: 1_000, concurrent_requests: 100 }
    const administration = { credential: limit, organization: limit, system_visible: false }
    await using app = await startAdminApp({ config: { administration } })
    const answer = await app.admin.send('GET', '/system')
    assert.deepEqual([answer.status, errorOf(answer)['code']], [403, 'permission_denied'])
    const operator = app.app.client.inOrganization(app.organizationId)
    assert.equal((await operator.get<SystemBody>('/v1/organization/system')).storage, 'embedded')
    assert.deepEqual(((await app.admin.get('/me'))['features'] as { system: boolean }).system, false)
  })
})
