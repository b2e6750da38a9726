import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { Client } from 'undici'
import { createLog } from '../../src/base/log.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { createManualTimers } from '../support/manual-timers.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const fixture = (name: string): string => new URL(`../fixtures/tls/${name}`, import.meta.url).pathname
const pem = (name: string): string => readFileSync(fixture(name), 'utf8')
const authorities = [pem('gateway.cert.pem'), pem('gateway-next.cert.pem')]

const files = { cert_file: fixture('gateway.cert.pem'), key_file: fixture('gateway.key.pem') }

/** A connection to the server, and the name in its certificate. */
async function dial(url: string, options: ConnectionOptions = {}): Promise<{ socket: TLSSocket; name: string }> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), ca: authorities, ...options })
  await once(socket, 'secureConnect')
  return { socket, name: String(socket.getPeerCertificate().subject.CN) }
}

async function shownName(url: string): Promise<string> {
  const { socket, name } = await dial(url)
  socket.destroy()
  return name
}

/** A server with a certificate in a temporary folder, which it checks for changes when the test advances the clock. */
async function startRenewable(test: TestContext) {
  const folder = await temporaryFolder()
  test.after(() => folder[Symbol.asyncDispose]())
  const certFile = join(folder.path, 'tls.crt')
  const keyFile = join(folder.path, 'tls.key')
  const put = (name: string, into = folder.path): void => {
    copyFileSync(fixture(`${name}.cert.pem`), join(into, 'tls.crt'))
    copyFileSync(fixture(`${name}.key.pem`), join(into, 'tls.key'))
  }
  const { clock, pass } = createManualTimers(5_000)
  const lines: string[] = []
  const listeners = new Set<() => void>()
  const write = (line: string): void => {
    lines.push(line)
    for (const listener of listeners) listener()
  }
  const log = createLog({ level: 'info', destination: { write } })
  const said = (text: string, times = 1): Promise<void> =>
    new Promise((resolve) => {
      const checkNow = (): void => {
        if (lines.filter((line) => line.includes(text)).length >= times) resolve()
      }
      listeners.add(checkNow)
      checkNow()
    })
  const start = async (): Promise<TestApp> => {
    const scene = await startTestApp({
      clock,
      log,
      config: { server: { tls: { cert_file: certFile, key_file: keyFile } } },
    })
    test.after(() => scene[Symbol.asyncDispose]())
    return scene
  }
  return { folder: folder.path, certFile, keyFile, put, start, checkNow: () => pass(5_000), said, lines }
}

describe('TLS', () => {
  it('serves the API, and every other port, with the certificate', async () => {
    await using scene = await startTestApp({ config: { server: { tls: files, admin_port: 0, metrics_port: 0 } } })
    for (const [base, path] of [
      [scene.addresses.api, '/health/live'],
      [scene.addresses.administration, '/health/live'],
      [scene.addresses.metrics, '/metrics'],
    ] as const) {
      assert.match(base, /^https:/)
      const client = new Client(base, { connect: { ca: authorities } })
      const { statusCode, body } = await client.request({ method: 'GET', path })
      assert.equal(statusCode, 200)
      await body.dump()
      await client.close()
    }
  })

  it('serves a metrics-only port in plain HTTP if configured', async () => {
    const server = { tls: { ...files, metrics: false }, metrics_port: 0 }
    await using scene = await startTestApp({ config: { server } })
    assert.equal((await fetch(`${scene.addresses.metrics}/metrics`)).status, 200)
    assert.equal(await shownName(scene.url), 'gateway.test')
  })

  it('rejects versions older than the configured minimum', async () => {
    await using scene = await startTestApp({ config: { server: { tls: { ...files, min_version: 'TLSv1.3' } } } })
    await assert.rejects(dial(scene.url, { maxVersion: 'TLSv1.2' }), /protocol version/i)
    assert.equal(await shownName(scene.url), 'gateway.test')
  })

  it('closes a connection that sends plain HTTP, and serves the next', async () => {
    await using scene = await startTestApp({ config: { server: { tls: files } } })
    await assert.rejects(fetch(`${scene.url.replace('https', 'http')}/health/live`))
    assert.equal(await shownName(scene.url), 'gateway.test')
  })

  for (const stream of [false, true]) {
    it(`answers a caller that closes its sending side, ${stream ? 'streamed' : 'whole'}`, async () => {
      await using scene = await startTestApp({ config: { server: { tls: files } } })
      const { socket } = await dial(scene.url, { allowHalfOpen: true } as ConnectionOptions)
      const body = JSON.stringify({
        model: 'gatehouse-echo',
        stream,
        max_tokens: 50,
        messages: [{ role: 'user', content: 'It is mild there' }],
      })
      const head = `POST /v1/messages HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${scene.apiKey}`
      socket.end(`${head}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
      let said = ''
      for await (const chunk of socket) said += String(chunk)
      assert.match(said, stream ? /HTTP\/1\.1 200 OK.*message_stop/s : /HTTP\/1\.1 200 OK.*It is mild there/s)
    })
  }
})

describe('a certificate that is renewed', { timeout: 60_000 }, () => {
  it('is used for new connections, and existing connections stay open', async (test) => {
    const { put, start, checkNow, said } = await startRenewable(test)
    put('gateway')
    const { url } = await start()
    const client = new Client(url, { connect: { ca: authorities } })
    test.after(() => client.destroy())
    let connections = 0
    client.on('connect', () => connections++)
    const send = async (): Promise<number> => {
      const { statusCode, body } = await client.request({ method: 'GET', path: '/health/live' })
      await body.dump()
      return statusCode
    }
    assert.equal(await send(), 200)
    put('gateway-next')
    checkNow()
    await said('a new TLS certificate is in use')
    assert.equal(await shownName(url), 'gateway-next.test')
    assert.equal(await send(), 200)
    assert.equal(connections, 1)
  })

  it('is detected if a symbolic link to its folder is swapped', async (test) => {
    const { folder, certFile, keyFile, put, start, checkNow, said } = await startRenewable(test)
    for (const name of ['gateway', 'gateway-next']) {
      mkdirSync(join(folder, name))
      put(name, join(folder, name))
    }
    symlinkSync('gateway', join(folder, '..data'))
    symlinkSync('..data/tls.crt', certFile)
    symlinkSync('..data/tls.key', keyFile)
    const { url } = await start()
    assert.equal(await shownName(url), 'gateway.test')
    symlinkSync('gateway-next', join(folder, '..data_tmp'))
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'))
    checkNow()
    await said('a new TLS certificate is in use')
    assert.equal(await shownName(url), 'gateway-next.test')
  })

  it('is rejected with a warning while it is invalid or does not match its key, and used once it is valid', async (test) => {
    const { certFile, put, start, checkNow, said, lines } = await startRenewable(test)
    put('gateway')
    const { url } = await start()
    writeFileSync(certFile, 'no certificate')
    checkNow()
    await said('the previous one is kept')
    assert.equal(await shownName(url), 'gateway.test')
    copyFileSync(fixture('gateway-next.cert.pem'), certFile)
    checkNow()
    await said('the previous one is kept', 2)
    assert.equal(await shownName(url), 'gateway.test')
    put('gateway-next')
    checkNow()
    await said('a new TLS certificate is in use')
    assert.equal(await shownName(url), 'gateway-next.test')
    assert.equal(lines.filter((line) => line.includes('PRIVATE')).length, 0)
  })
})

describe('a start with TLS', () => {
  for (const [what, tls, expectedMessage] of [
    [
      'a missing certificate',
      { ...files, cert_file: '/nowhere/c.pem' },
      /server\.tls\.cert_file: \/nowhere\/c\.pem cannot be read: ENOENT/,
    ],
    [
      'a missing key',
      { ...files, key_file: '/nowhere/k.pem' },
      /server\.tls\.key_file: \/nowhere\/k\.pem cannot be read: ENOENT/,
    ],
    [
      'a key of another certificate',
      { ...files, key_file: fixture('gateway-next.key.pem') },
      /server\.tls: .*gateway\.cert\.pem and .*gateway-next\.key\.pem .*mismatch/,
    ],
    ['a file that is not a certificate', { ...files, cert_file: fixture('README.md') }, /server\.tls: .*README\.md/],
  ] as const) {
    it(`is rejected with the name of the file: ${what}`, async () => {
      await assert.rejects(startTestApp({ config: { server: { tls } } }), expectedMessage)
    })
  }
})
