import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { faultCodes } from '../../../src/base/fault.ts'
import { describedPorts, portName } from '../../../src/app/listen-addresses.ts'
import { permissions } from '../../../src/domain/identity/permissions.ts'
import { readBuiltDocs } from '../../../src/http/docs/built-docs.ts'
import { gatewayHeaders } from '../../../src/http/gateway-headers.ts'
import { describedFamilies } from '../../../src/http/route.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { operationsIn, textOf } from '../../support/docs-page.ts'

const docsFolder = new URL('../../../docs/', import.meta.url)
const guides = ['api', 'guide'].flatMap((folder) =>
  readdirSync(new URL(`${folder}/`, docsFolder)).map((file) => `/docs/guide/${file.replace('.md', '')}`),
)
const pages = ['/docs', '/docs/errors', ...guides, '/docs/guide/configuration', '/docs/guide/moderation-model-card']

describe('the documentation', () => {
  let scene: TestApp
  before(async () => void (scene = await startTestApp()))
  after(() => scene[Symbol.asyncDispose]())
  const read = async (path: string): Promise<string> => {
    const response = await fetch(scene.url + path)
    assert.equal(response.status, 200, path)
    return response.text()
  }

  it('loads nothing from other hosts, and runs no script or style that is written into the page', async () => {
    for (const path of pages) {
      const response = await fetch(scene.url + path)
      const policy = response.headers.get('content-security-policy') ?? ''
      assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/)
      assert.doesNotMatch(policy, /unsafe/)
      const page = await response.text()
      assert.doesNotMatch(page, /src="https?:|<link [^>]*href="https?:|<style|style="|<script>| on\w+="/, path)
    }
  })

  it('has no link to a missing page or heading', async () => {
    const html = new Map<string, string>()
    for (const path of pages) html.set(path, await read(path))
    const dead: string[] = []
    for (const [path, page] of html) {
      for (const [, href = ''] of page.matchAll(/<a [^>]*href="([^"]*)"/g)) {
        if (/^https?:/.test(href)) continue
        const { pathname, hash } = new URL(href, `http://localhost${path}`)
        if (!html.has(pathname)) html.set(pathname, pathname === '/openapi.json' ? '' : await read(pathname))
        const id = decodeURIComponent(hash.slice(1))
        if (id !== '' && !html.get(pathname)?.includes(` id="${id}"`)) dead.push(`${path}: ${href}`)
      }
    }
    assert.deepEqual([...new Set(dead)], [])
  })

  it('finds nothing that is not there', async () => {
    const entries = JSON.parse(await read('/docs/assets/search.json')) as [kind: string, ...texts: string[]][]
    const html = new Map<string, string>()
    const dead: string[] = []
    for (const [, title = '', , url = ''] of entries) {
      const { pathname, hash } = new URL(url, 'http://localhost')
      if (!html.has(pathname)) html.set(pathname, await read(pathname))
      if (hash !== '' && !html.get(pathname)?.includes(` id="${hash.slice(1)}"`)) dead.push(`${title}: ${url}`)
    }
    assert.deepEqual(dead, [])
    const kinds = new Set(entries.map(([kind]) => kind))
    assert.deepEqual([...kinds].toSorted(), ['endpoint', 'error', 'field', 'page', 'section'])
  })

  it('has an anchor for every operation of the OpenAPI description, and no two alike', async () => {
    const { paths } = scene.app.openapi() as { paths: Record<string, Record<string, { operationId: string }>> }
    const described = Object.values(paths).flatMap((methods) => Object.values(methods).map((each) => each.operationId))
    const page = await read('/docs')
    assert.deepEqual(
      operationsIn(page)
        .map(({ name }) => name)
        .toSorted(),
      described.toSorted(),
    )
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)
    assert.deepEqual(
      ids.filter((id, at) => ids.indexOf(id) !== at),
      [],
    )
  })

  it('is built for every port that describes endpoints, each with its own', () => {
    for (const served of describedPorts) {
      const built = readBuiltDocs(new URL('dist/', docsFolder), portName(served))
      assert.ok('texts' in built, JSON.stringify(built))
      const page = built.texts.get('/docs')?.read() ?? ''
      const families = describedFamilies(scene.app.familiesOf(served))
      assert.deepEqual(
        operationsIn(page)
          .map(({ name }) => name)
          .toSorted(),
        families.flatMap(({ routes }) => routes.map(({ name }) => name)).toSorted(),
      )
      const guide = built.texts.get('/docs/guide/policies')?.read() ?? ''
      for (const { name } of operationsIn(page)) assert.ok(guide.includes(`<a href="/docs#${name}">`), name)
      assert.doesNotMatch(page + guide, /<!--/)
    }
  })

  it('names the credential and the permission of an endpoint', async () => {
    const shown = operationsIn(await read('/docs'))
    const html = (name: string): string => shown.find((each) => each.name === name)?.html ?? ''
    assert.match(html('publishPolicy'), /<dd>An administrator key<\/dd>.*<code>policies:publish<\/code>/s)
    assert.match(html('createMessage'), /A project API key or a token; or none/)
    assert.doesNotMatch(html('createMessage'), /<dt>Permission/)
  })

  it('explains every error code at the anchor that errors link to', async () => {
    const page = await read('/docs/errors')
    for (const code of Object.keys(faultCodes)) assert.ok(page.includes(`<tr id="${code}">`), code)
    const { error } = (await (await fetch(`${scene.url}/nothing`)).json()) as { error: { doc_url: string } }
    const url = new URL(error.doc_url)
    assert.match(await (await fetch(url)).text(), new RegExp(`id="${url.hash.slice(1)}"`))
  })

  it('explains every permission and every header of the gateway', async () => {
    const keys = await read('/docs/guide/authentication')
    for (const permission of permissions)
      assert.ok(keys.includes(`<td data-label="Permission"><code>${permission}</code>`), permission)
    const headers = await read('/docs/guide/headers')
    for (const name of Object.keys(gatewayHeaders)) assert.ok(headers.includes(`<code>${name}</code>`), name)
  })

  it('answers 404 for a guide or a file that does not exist', async () => {
    for (const path of ['/docs/guide/nothing', '/docs/assets/nothing.js', '/docs/guide/..%2Ferrors']) {
      assert.equal((await fetch(scene.url + path)).status, 404, path)
    }
  })

  it('is sent again only if it has changed', async () => {
    for (const path of ['/docs', '/docs/assets/style.css', '/docs/assets/search.json']) {
      const first = await fetch(scene.url + path)
      const etag = first.headers.get('etag') ?? ''
      assert.notEqual((await first.text()).length, 0)
      const second = await fetch(scene.url + path, { headers: { 'if-none-match': etag } })
      assert.deepEqual([second.status, await second.text()], [304, ''])
      const other = await fetch(scene.url + path, { headers: { 'if-none-match': 'W/"other"' } })
      assert.equal(other.status, 200)
      await other.text()
    }
  })

  it('is compressed for clients that accept it, and the same text for others', async () => {
    const send = async (encoding: string) => {
      const response = await fetch(`${scene.url}/docs`, { headers: { 'accept-encoding': encoding } })
      return { encoding: response.headers.get('content-encoding'), page: await response.text() }
    }
    const [compressed, whole, refused] = [await send('gzip, br'), await send('identity'), await send('gzip;q=0')]
    assert.deepEqual([compressed.encoding, whole.encoding, refused.encoding], ['gzip', null, null])
    assert.equal(compressed.page, whole.page)
  })

  it('prints the address that the reader uses', async () => {
    assert.match(firstCurl(await read('/docs')), new RegExp(`^curl ${scene.url}/v1/messages `))
    assert.match(firstCurl(await readAs('ai.example.com')), /^curl http:\/\/ai\.example\.com\/v1\/messages /)
    assert.match(textOf(await read('/docs/guide/openai-sdk')), new RegExp(`baseURL: '${scene.url}/v1'`))
  })

  it('does not print a host name that is none', async () => {
    const page = await readAs('evil"><script>alert(1)</script>')
    assert.doesNotMatch(page, /evil|alert\(/)
    assert.match(firstCurl(page), /^curl http:\/\/127\.0\.0\.1:8080\//)
  })

  /** `fetch` does not send a host of the caller's choice. */
  function readAs(host: string): Promise<string> {
    const sent = request({ port: new URL(scene.url).port, path: '/docs', headers: { host } }).end()
    return new Promise((resolve, reject) => {
      sent.once('response', (response) => resolve(text(response)))
      sent.once('error', reject)
    })
  }
})

const curlOf = (page: string, name: string): string =>
  operationsIn(page).find((each) => each.name === name)?.snippets['curl'] ?? ''
const firstCurl = (page: string): string => curlOf(page, 'createMessage')

describe('the documentation of a service with a public address', () => {
  it('prints that address, and on a port of its own the address of the request', async () => {
    const port = await freePort()
    const server = { port, admin_port: 0, public_url: 'https://gw.example.com/' }
    await using scene = await startTestApp({ config: { server } })
    const page = await (await fetch(`http://127.0.0.1:${port}/docs`)).text()
    assert.match(firstCurl(page), /^curl https:\/\/gw\.example\.com\/v1\/messages /)
    const { administration } = scene.addresses
    const other = await (await fetch(`${administration}/docs`)).text()
    assert.match(curlOf(other, 'listPolicies'), new RegExp(`^curl ${administration}/v1/organization/policies `))
    assert.doesNotMatch(other, /gw\.example\.com/)
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
