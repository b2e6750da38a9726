import assert from 'node:assert/strict'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { after, before, describe, it } from 'node:test'
import { startTestApp, type TestApp } from '../support/app.ts'

/** A path, and its statuses on the ports of API, administration and metrics. */
const requests: readonly (readonly [path: string, key: 'admin' | 'api' | 'none', statuses: readonly number[]])[] = [
  ['/v1/organization/policies', 'admin', [404, 200, 404]],
  ['/api/policy-gateway/config', 'api', [404, 200, 404]],
  ['/api/policy-gateway/config', 'admin', [404, 200, 404]],
  ['/v1/models', 'api', [200, 404, 404]],
  ['/v1/credits', 'api', [200, 404, 404]],
  ['/metrics', 'none', [404, 404, 200]],
  ['/health/live', 'none', [200, 200, 200]],
  ['/health/ready', 'none', [200, 200, 200]],
  ['/docs', 'none', [200, 200, 404]],
  ['/docs/errors', 'none', [200, 200, 404]],
  ['/docs/guide/policies', 'none', [200, 200, 404]],
  ['/docs/assets/style.css', 'none', [200, 200, 404]],
  ['/openapi.json', 'none', [200, 200, 404]],
]

const portOf = (url: string): string => new URL(url).port

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

describe('separate ports for administration and metrics', () => {
  let scene: TestApp
  before(async () => {
    scene = await startTestApp({ config: { server: { admin_port: 0, metrics_port: 0 } } })
  })
  after(() => scene[Symbol.asyncDispose]())

  const send = (base: string, path: string, key: 'admin' | 'api' | 'none') => {
    const secret = { admin: scene.adminKey, api: scene.apiKey, none: '' }[key]
    return fetch(base + path, { headers: secret === '' ? {} : { authorization: `Bearer ${secret}` } })
  }

  for (const [path, key, statuses] of requests) {
    it(`${path} answers ${statuses.join(', ')} on the three ports, with the key ${key}`, async () => {
      const { api, administration, metrics } = scene.addresses
      const answers = await Promise.all([api, administration, metrics].map((base) => send(base, path, key)))
      assert.deepEqual(
        answers.map(({ status }) => status),
        statuses,
      )
    })
  }

  it('have different addresses', () => {
    assert.equal(new Set(Object.values(scene.addresses).map(portOf)).size, 3)
  })

  it('answer unknown_route in the default error format for routes of another port', async () => {
    const answer = await send(scene.addresses.api, '/v1/organization/policies', 'admin')
    assert.equal(((await answer.json()) as { error: { code: string } }).error.code, 'unknown_route')
  })

  it('describe the routes that they serve, and the command describes all', async () => {
    const pathsOf = async (base: string): Promise<string[]> => {
      const { paths } = (await (await fetch(`${base}/openapi.json`)).json()) as { paths: object }
      return Object.keys(paths)
    }
    const api = await pathsOf(scene.addresses.api)
    const administration = await pathsOf(scene.addresses.administration)
    assert.ok(api.includes('/v1/messages') && !api.includes('/v1/organization/policies') && !api.includes('/metrics'))
    assert.ok(administration.includes('/v1/organization/policies') && !administration.includes('/v1/messages'))
    const { paths } = scene.app.openapi() as { paths: object }
    for (const path of [...api, ...administration, '/metrics']) assert.ok(path in paths, path)
  })

  it('enforce the limits of administration on its port', async () => {
    await using limited = await startTestApp({
      config: { server: { admin_port: 0 }, administration: { credential: { requests_per_minute: 1 } } },
    })
    const headers = { authorization: `Bearer ${limited.adminKey}` }
    const path = `${limited.addresses.administration}/v1/organization/policies`
    assert.equal((await fetch(path, { headers })).status, 200)
    assert.equal((await fetch(path, { headers })).status, 429)
  })
})

describe('a port', () => {
  it('may be shared by administration and metrics', async () => {
    const port = await freePort()
    await using scene = await startTestApp({ config: { server: { admin_port: port, metrics_port: port } } })
    const { api, administration, metrics } = scene.addresses
    assert.equal(administration, metrics)
    assert.equal((await fetch(`${administration}/metrics`)).status, 200)
    assert.equal((await fetch(`${api}/metrics`)).status, 404)
  })

  it('serves everything if no other is configured', async () => {
    await using scene = await startTestApp()
    assert.equal(new Set(Object.values(scene.addresses)).size, 1)
    assert.equal((await scene.get('/metrics')).status, 200)
    assert.equal(
      (await scene.get('/v1/organization/policies', { authorization: `Bearer ${scene.adminKey}` })).status,
      200,
    )
  })

  it('may have its own address', async () => {
    await using scene = await startTestApp({ config: { server: { metrics_port: 0, metrics_host: '127.0.0.2' } } })
    assert.equal(new URL(scene.addresses.metrics).hostname, '127.0.0.2')
    assert.equal((await fetch(`${scene.addresses.metrics}/metrics`)).status, 200)
  })

  it('on localhost accepts connections on each of its addresses', async () => {
    await using scene = await startTestApp({ config: { server: { host: 'localhost' } } })
    const own = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
    const addresses = (await lookup('localhost', { all: true })).map(({ address }) => address)
    for (const { address, family } of own.filter((each) => addresses.includes(each.address))) {
      const host = family === 'IPv6' ? `[${address}]` : address
      assert.equal((await fetch(`http://${host}:${portOf(scene.url)}/health/live`)).status, 200)
    }
  })
})

describe('a shutdown', () => {
  it('closes API and administration first, and serves metrics until the end', async () => {
    const scene = await startTestApp({ config: { server: { admin_port: 0, metrics_port: 0 } } })
    const { api, administration, metrics } = scene.addresses
    await scene.app.drain()
    await assert.rejects(fetch(`${api}/health/live`))
    await assert.rejects(fetch(`${administration}/health/live`))
    assert.equal((await fetch(`${metrics}/metrics`)).status, 200)
    assert.equal((await fetch(`${metrics}/health/ready`)).status, 503)
    await scene[Symbol.asyncDispose]()
    await assert.rejects(fetch(`${metrics}/metrics`))
  })
})
