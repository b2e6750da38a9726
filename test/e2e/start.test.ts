import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { asTerminal } from '../support/terminal.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { answerJson, startUpstream } from '../support/upstream.ts'

const program = new URL('../../bin/gatehouse.mjs', import.meta.url).pathname

/** Starts the server in its own folder, and stops it if it does start. Returns its output. */
async function start(test: TestContext, env: Record<string, string>, settings = '') {
  const folder = await temporaryFolder()
  test.after(() => folder[Symbol.asyncDispose]())
  writeFileSync(join(folder.path, 'gatehouse.yaml'), settings)
  const data = join(folder.path, 'data')
  mkdirSync(data, { mode: 0o755 })
  const child = spawn(process.execPath, [...asTerminal, program, 'serve'], {
    cwd: folder.path,
    env: { PATH: process.env['PATH'], GATEHOUSE_PORT: '0', GATEHOUSE_DATA_DIR: data, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.once('data', () => child.kill('SIGTERM'))
  const [output, errorOutput] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { output, errorOutput, modeOf: (file: string) => statSync(join(data, file)).mode & 0o777 }
}

describe('a start that cannot succeed names the problem and the fix:', () => {
  it('a port that is in use', async (test) => {
    const other = createServer().listen(0, '127.0.0.1')
    test.after(() => other.close())
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const { errorOutput } = await start(test, { GATEHOUSE_PORT: String(port) })
    assert.match(errorOutput, new RegExp(`^127\\.0\\.0\\.1:${port} is already in use.*GATEHOUSE_PORT`))
  })

  it('a port of the administration or of the metrics that is in use', async (test) => {
    const other = createServer().listen(0, '127.0.0.1')
    test.after(() => other.close())
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    for (const name of ['GATEHOUSE_ADMIN_PORT', 'GATEHOUSE_METRICS_PORT']) {
      const { errorOutput, output } = await start(test, { [name]: String(port) })
      assert.match(errorOutput, new RegExp(`^127\\.0\\.0\\.1:${port} is already in use.*set ${name}\\.`))
      assert.equal(output, '')
    }
  })

  for (const [what, env, settings, expectedMessage] of [
    [
      'an address of another machine',
      { GATEHOUSE_HOST: '192.0.2.1' },
      '',
      /^192\.0\.2\.1 is not an address .*GATEHOUSE_HOST/,
    ],
    [
      'a data folder that is a file',
      { GATEHOUSE_DATA_DIR: './gatehouse.yaml' },
      '',
      /^The data folder \.\/gatehouse.yaml cannot be used.*GATEHOUSE_DATA_DIR/,
    ],
    [
      'a database that does not answer',
      { DATABASE_URL: 'postgres://user:hidden@127.0.0.1:1/x', GATEHOUSE_SECRET: '0123456789abcdef0123456789abcdef' },
      '',
      /^The PostgreSQL database that DATABASE_URL names cannot be opened: .*ECONNREFUSED/,
    ],
    ['an invalid address of Ollama', { OLLAMA_HOST: ':x' }, '', /OLLAMA_HOST: /],
    ['an invalid address of OpenAI', { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'here' }, '', /OPENAI_BASE_URL: /],
    [
      'a missing certificate',
      { GATEHOUSE_TLS_CERT_FILE: '/nowhere/c.pem', GATEHOUSE_TLS_KEY_FILE: '/nowhere/k.pem' },
      '',
      /^server\.tls\.cert_file: \/nowhere\/c\.pem cannot be read: ENOENT/,
    ],
    [
      'a certificate without its key',
      { GATEHOUSE_TLS_CERT_FILE: '/nowhere/c.pem' },
      '',
      /server\.tls must have required properties key_file/,
    ],
    ['an invalid network', {}, 'exports: { allow_addresses: [home] }', /exports\.allow_addresses: .*home/],
    ['credits beyond the range of exact numbers', {}, 'credits: { starting: 10000000000000 }', /credits\.starting/],
  ] as const) {
    it(what, async (test) => {
      const { errorOutput, output } = await start(test, env, settings)
      assert.match(errorOutput, expectedMessage)
      assert.equal(output, '')
      assert.equal(errorOutput.includes('hidden'), false)
    })
  }
})

describe('a start', () => {
  it('names the models of a vendor, and shows requests that the vendor can answer', async (test) => {
    const { output } = await start(test, { ANTHROPIC_API_KEY: 'key' })
    assert.match(output, /models +claude-\*/)
    assert.match(output, /"model":"claude-[\w-]+"/)
    assert.doesNotMatch(output, /gatehouse-echo/)
  })

  it('shows requests for a model that the local server has', async (test) => {
    const models = { object: 'list', data: [{ id: 'nomic-embed-text:latest' }, { id: 'smollm2:latest' }] }
    await using upstream = await startUpstream(answerJson(models))
    const { output } = await start(test, { OLLAMA_HOST: upstream.url })
    assert.match(output, /models +nomic-embed-text:latest, smollm2:latest/)
    assert.match(output, /"model":"smollm2:latest"/)
  })

  it('shows where to look if the local server does not answer', async (test) => {
    const { output } = await start(test, { OLLAMA_HOST: '127.0.0.1:1' })
    assert.match(output, /No upstream lists a model yet\. See why: gatehouse doctor/)
    assert.doesNotMatch(output, /curl/)
  })

  it('says that there is no model', async (test) => {
    const { output } = await start(test, {}, 'upstreams: [{ name: here, kind: echo }]')
    assert.match(output, /models +none yet/)
    assert.doesNotMatch(output, /curl/)
  })

  it('shows its public URL, with or without a slash at its end', async (test) => {
    const { output } = await start(test, {}, 'server: { public_url: "https://gateway.example.com/base/" }')
    assert.match(output, /API +https:\/\/gateway\.example\.com\/base\/v1\n/)
  })

  it('names the separate ports of administration and metrics', async (test) => {
    const { output } = await start(test, { GATEHOUSE_ADMIN_PORT: '0', GATEHOUSE_METRICS_PORT: '0' })
    assert.match(output, /admin +http:\/\/127\.0\.0\.1:\d+\/v1\/organization\n/)
    assert.match(output, /metrics +http:\/\/127\.0\.0\.1:\d+\/metrics\n/)
  })

  it('treats an empty GATEHOUSE_CONFIG as not set', async (test) => {
    assert.match((await start(test, { GATEHOUSE_CONFIG: '' })).output, /gatehouse-echo/)
  })

  it('makes its files unreadable for other users, even in a folder that they may read', async (test) => {
    const { modeOf } = await start(test, {})
    assert.equal(modeOf('gatehouse.db'), 0o600)
  })
})
