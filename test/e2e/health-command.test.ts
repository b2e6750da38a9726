import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runCommandLine } from '../../src/cli/run.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { answerJson, startUpstream } from '../support/upstream.ts'

const fixture = (name: string): string => new URL(`../fixtures/tls/${name}`, import.meta.url).pathname
const files = { cert_file: fixture('gateway.cert.pem'), key_file: fixture('gateway.key.pem') }

/** Runs `gatehouse health` without a configuration file. */
async function health(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const output: string[] = []
  const print = (line: string): void => void output.push(line)
  const status = await runCommandLine(['health', ...args], {
    env: { GATEHOUSE_CONFIG: '/dev/null', ...env },
    print,
    printError: print,
    confirm: async () => false,
  })
  return { status, output: output.join('\n') }
}

const portOf = ({ url }: TestApp): string => new URL(url).port

describe('gatehouse health', () => {
  it('exits with 0 while the server at the configured address is ready', async () => {
    await using server = await startTestApp()
    const { status, output } = await health([], { GATEHOUSE_PORT: portOf(server) })
    assert.deepEqual([status, output], [0, 'ready'])
  })

  it('finds the server of the data folder on any port, and before another one at the configured address', async () => {
    await using folder = await temporaryFolder()
    await using server = await startTestApp({ storage: { data_dir: folder.path } })
    const other = { status: 'not_ready', failing: [{ part: 'storage', problem: 'another server' }] }
    await using stranger = await startUpstream(answerJson(other, 503))
    for (const port of ['0', '1', new URL(stranger.url).port]) {
      const env = { GATEHOUSE_DATA_DIR: folder.path, GATEHOUSE_PORT: port }
      assert.deepEqual(await health([], env), { status: 0, output: 'ready' }, server.url)
    }
  })

  it('asks the loopback address of a server that listens on all addresses', async () => {
    await using server = await startTestApp()
    for (const host of ['0.0.0.0', '::']) {
      const { status, output } = await health([], { GATEHOUSE_HOST: host, GATEHOUSE_PORT: '1' })
      assert.equal(status, 1)
      assert.match(output, host === '::' ? /http:\/\/\[::1\]:1\// : /http:\/\/127\.0\.0\.1:1\//)
    }
    assert.equal((await health([], { GATEHOUSE_HOST: '0.0.0.0', GATEHOUSE_PORT: portOf(server) })).status, 0)
  })

  it('accepts the certificate of the local server, whose name is another than the loopback address', async () => {
    await using server = await startTestApp({ config: { server: { tls: files } } })
    const env = {
      GATEHOUSE_PORT: portOf(server),
      GATEHOUSE_TLS_CERT_FILE: files.cert_file,
      GATEHOUSE_TLS_KEY_FILE: files.key_file,
    }
    assert.deepEqual(await health([], env), { status: 0, output: 'ready' })
    const remote = await health(['--url', server.url])
    assert.equal(remote.status, 1)
    assert.match(remote.output, /certificate/)
  })

  it('exits with 1 and names the failing part while the server is not ready', async () => {
    const failing = { status: 'not_ready', failing: [{ part: 'storage', problem: 'the disk is full' }] }
    await using server = await startUpstream(answerJson(failing, 503))
    const { status, output } = await health(['--url', `${server.url}/prefix/`])
    assert.deepEqual([status, output], [1, 'not ready: storage: the disk is full'])
    assert.equal(server.requests[0]?.path, '/prefix/health/ready')
  })

  it('exits with 0 and names the degraded part while requests are served without it', async () => {
    const degraded = { status: 'ready', degraded: [{ part: 'limits', problem: 'Redis cannot be reached' }] }
    await using server = await startUpstream(answerJson(degraded))
    const { status, output } = await health(['--url', server.url])
    assert.deepEqual([status, output], [0, 'ready, degraded: limits: Redis cannot be reached'])
  })

  it('exits with 1 if another program answers at the address', async () => {
    await using server = await startUpstream(answerJson({ hello: 'world' }))
    const { status, output } = await health(['--url', server.url])
    assert.equal(status, 1)
    assert.match(output, /is not Gatehouse/)
  })

  it('exits with 1 and names the address that cannot be reached', async () => {
    const { status, output } = await health(['--url', 'http://127.0.0.1:1'])
    assert.equal(status, 1)
    assert.match(output, /^http:\/\/127\.0\.0\.1:1\/health\/ready cannot be reached: .*ECONNREFUSED/)
  })

  it('explains that a server on any free port must be named, and that an address needs a scheme', async () => {
    assert.match((await health([], { GATEHOUSE_PORT: '0' })).output, /--url/)
    const { status, output } = await health(['--url', '127.0.0.1:8080'])
    assert.equal(status, 2)
    assert.match(output, /--url .*http:\/\//)
  })
})
