import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SignJWT } from 'jose'
import { apiKeyPermissions, permissions } from '../../../src/domain/identity/permissions.ts'
import { errorOf, itemsOf, textOf, type Json } from '../../support/administration.ts'
import {
  createFor,
  gatewayRoutes,
  gatewaySuite,
  idIn,
  unknownIds,
  webhookConfig,
  type GatewayRoute,
} from '../../support/gateway-suite.ts'

const secret = 'a shared secret of thirty-two bytes and more'
const jwt = { issuer: 'https://id.example.com', audience: 'gatehouse', secret, algorithms: ['HS256'] }

describe('every route of the policy gateway', () => {
  const { scene, send } = gatewaySuite({ config: { auth: { jwt }, server: { auth_failures_per_minute: 1_000 } } })
  const sendTo = async (route: GatewayRoute, key: string, id?: string) => {
    const name = idIn(route)
    const named = id ?? (name === undefined ? '' : await createFor(route, scene()))
    const answer = await send(route.method, route.path.replace(`{${name}}`, named), { body: route.body, key })
    // The number of sinks of an organization is limited.
    if (id === undefined && name === 'export_id') await send('DELETE', `/exports/${named}`)
    return answer
  }
  const tokenFor = (scope: string): Promise<string> =>
    new SignJWT({ org_id: scene().organizationId, project_id: scene().projectId, scope })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject('somebody')
      .setIssuer(jwt.issuer)
      .setAudience(jwt.audience)
      .setExpirationTime('5m')
      .sign(new TextEncoder().encode(secret))
  const projectKey = async (granted: readonly string[]): Promise<string> =>
    textOf(
      await scene().admin.post(`/projects/${scene().projectId}/api_keys`, { name: 'Few', permissions: granted }),
      'value',
    )

  it('is in the table that these tests iterate over, and the table has no other', () => {
    const { paths = {} } = scene().app.openapi() as { paths?: Record<string, object> }
    const prefix = '/api/policy-gateway'
    const described = Object.entries(paths)
      .filter(([path]) => path.startsWith(prefix))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.slice(prefix.length)}`),
      )
    assert.deepEqual(described.toSorted(), gatewayRoutes.map(({ method, path }) => `${method} ${path}`).toSorted())
  })

  for (const route of gatewayRoutes) {
    const title = `${route.method} ${route.path}`

    it(`${title} accepts a project’s key, a token and an administrator key with the permission`, async () => {
      const needed = [route.permission, ...(route.alsoNeeds ?? [])]
      const holder = await scene().adminWith(needed)
      const ofProject = route.alsoNeeds ? [] : [await projectKey(needed)]
      for (const key of [...ofProject, await tokenFor(needed.join(' ')), holder.key]) {
        const answer = await sendTo(route, key)
        assert.ok(answer.status === 200 || answer.status === 201, JSON.stringify(answer.body))
        assert.match(answer.headers.get('x-request-id') ?? '', /^req_/)
      }
    })

    it(`${title} needs ${route.permission}, whatever other permissions the credential has`, async () => {
      const others = permissions.filter((word) => word !== route.permission && word !== '*')
      const few = apiKeyPermissions.filter((word) => word !== route.permission)
      for (const key of [
        (await scene().adminWith(others)).key,
        await projectKey(few),
        await tokenFor(others.join(' ')),
      ]) {
        const answer = await sendTo(route, key)
        assert.deepEqual([answer.status, errorOf(answer)['code']], [403, 'permission_denied'])
      }
    })

    it(`${title} requires a credential, and names the scheme`, async () => {
      for (const key of ['', 'adm_nobody', 'ak_nobody', 'a.b.c']) {
        const answer = await sendTo(route, key)
        assert.deepEqual([answer.status, errorOf(answer)['type']], [401, 'auth_error'])
        assert.ok(answer.headers.get('www-authenticate')?.startsWith('Bearer realm="gatehouse"'))
      }
    })

    const name = idIn(route)
    if (name === undefined) continue
    it(`${title} answers for a foreign resource as for one that does not exist, and changes nothing`, async () => {
      const other = await scene().otherOrganization()
      const id = await createFor(route, scene())
      const path = route.path.slice(0, route.path.indexOf('}') + 1).replace(`{${name}}`, id)
      const read = async () => shownBy(await send('GET', path, { key: scene().admin.key }))
      const before = await read()
      const unknown = unknownIds[name] ?? ''
      const foreign = await sendTo(route, other.admin.key, id)
      const nobody = await sendTo(route, other.admin.key, unknown)
      assert.deepEqual([foreign.status, nobody.status], [404, 404])
      assert.equal(
        String(errorOf(foreign)['message']).replace(id, ''),
        String(errorOf(nobody)['message']).replace(unknown, ''),
      )
      assert.deepEqual(await read(), before)
    })
  }

  it('lists no foreign sink, and accepts none as a cursor', async () => {
    const other = await scene().otherOrganization()
    const id = textOf(await scene().createSink(webhookConfig))
    const list = await send('GET', '/exports', { key: other.admin.key })
    assert.deepEqual(itemsOf(list.body), [])
    const cursor = await send('GET', `/exports?after=${id}`, { key: other.admin.key })
    assert.deepEqual([cursor.status, errorOf(cursor)['code']], [400, 'invalid_cursor'])
  })

  it('answers in the default error format for unknown paths', async () => {
    const answer = await send('GET', '/nothing')
    assert.deepEqual([answer.status, errorOf(answer)['code']], [404, 'unknown_route'])
  })
})

/** Without what changes between two reads: the health of a sink, and the progress of a backtest. */
function shownBy({ body }: { readonly body: Json }): Json {
  const sink = { ...(body['export'] as Json | undefined) }
  const { health: _health, last_error: _error, last_error_at: _at, ...ofSink } = sink
  const { status: _status, progress: _progress, result: _result, updated_at: _updatedAt, ...rest } = body
  return { ...ofSink, ...rest, export: undefined }
}
