import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, it } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import { request } from 'undici'
import { readConsoleFiles } from '../../../src/http/console/files.ts'
import { startTestApp } from '../../support/app.ts'

describe('the pages of the console', () => {
  it('are one document at every path, with a base that leads back to /console/', async () => {
    await using app = await startTestApp()
    const bases = { '': './', requests: './', 'requests/req_1': '../', 'policies/pol_1/history': '../../' }
    for (const [path, base] of Object.entries(bases)) {
      const page = await fetch(`${app.url}/console/${path}`)
      assert.equal(page.status, 200)
      assert.ok((await page.text()).includes(`<base href="${base}">`), path)
    }
  })

  it('run no script but their own, in no frame, and are never cached', async () => {
    await using app = await startTestApp()
    const { headers } = await fetch(`${app.url}/console/`)
    const policy = headers.get('content-security-policy') ?? ''
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ])
      assert.ok(policy.split('; ').includes(rule), rule)
    assert.doesNotMatch(policy, /unsafe|https?:/)
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin')
  })

  it('have a new nonce each time', async () => {
    await using app = await startTestApp()
    const nonceOf = async () => /nonce="([^"]+)"/.exec(await (await fetch(`${app.url}/console/`)).text())?.[1]
    const [first, second] = [await nonceOf(), await nonceOf()]
    assert.ok(first && second && first !== second)
  })

  it('load files that browsers may keep, compressed when they were built', async () => {
    await using app = await startTestApp()
    const page = await (await fetch(`${app.url}/console/`)).text()
    const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(page)?.[1] ?? ''
    const { statusCode, headers, body } = await request(`${app.url}/console/${script}`, {
      headers: { 'accept-encoding': 'gzip, br' },
    })
    assert.equal(statusCode, 200)
    assert.equal(headers['content-encoding'], 'br')
    assert.match(String(headers['cache-control']), /immutable/)
    const plain = Buffer.from(await (await fetch(`${app.url}/console/${script}`)).arrayBuffer())
    assert.deepEqual(brotliDecompressSync(Buffer.from(await body.arrayBuffer())), plain)
  })

  it('serve nothing beside the files of the build', async () => {
    await using app = await startTestApp()
    for (const name of ['stamp.json', '..%2fstamp.json', '..%2f..%2fpackage.json', 'missing.js'])
      assert.equal((await fetch(`${app.url}/console/assets/${name}`)).status, 404, name)
  })

  it('are where a browser is sent that opens the address of the service', async () => {
    await using app = await startTestApp()
    const browser = await fetch(app.url, { headers: { accept: 'text/html,*/*' }, redirect: 'manual' })
    assert.deepEqual([browser.status, browser.headers.get('location')], [302, 'console/'])
    assert.equal(((await (await fetch(app.url)).json()) as { name: string }).name, 'gatehouse')
  })

  it('are not there if the console is off', async () => {
    await using app = await startTestApp({ config: { console: { enabled: false } } })
    assert.equal((await fetch(`${app.url}/console/`)).status, 404)
    const browser = await fetch(app.url, { headers: { accept: 'text/html' }, redirect: 'manual' })
    assert.equal(browser.status, 200)
    await assert.rejects(app.app.client.post('/operator/organization/console_links', {}), /console\.enabled/)
  })

  it('are on the administration port alone, if there is one', async () => {
    await using app = await startTestApp({ config: { server: { admin_port: 0 } } })
    assert.equal((await fetch(`${app.addresses.administration}/console/`)).status, 200)
    assert.equal((await fetch(`${app.url}/console/`)).status, 404)
  })
})

describe('a console that was not built', () => {
  it('says why', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-console-'))
    const url = pathToFileURL(`${folder}/`)
    assert.match(JSON.stringify(readConsoleFiles(url)), /stamp\.json/)
    writeFileSync(join(folder, 'problem.txt'), 'Vite is missing')
    assert.deepEqual(readConsoleFiles(url), { problem: 'Vite is missing' })
    mkdirSync(join(folder, 'assets'))
    writeFileSync(join(folder, 'stamp.json'), '{"assets":["gone.js"]}')
    writeFileSync(join(folder, 'index.html'), '')
    assert.ok('problem' in readConsoleFiles(url))
  })
})
