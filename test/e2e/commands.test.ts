import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { after, describe, it } from 'node:test'
import packageFile from '../../package.json' with { type: 'json' }
import { asTerminal } from '../support/terminal.ts'

const main = new URL('../../bin/gatehouse.mjs', import.meta.url).pathname

function createFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-commands-'))
  const env = {
    PATH: process.env['PATH'],
    GATEHOUSE_DATA_DIR: join(folder, 'data'),
    GATEHOUSE_PORT: '0',
    GATEHOUSE_LOG_LEVEL: 'silent',
  }
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [main, ...args], { env, cwd: folder, encoding: 'utf8', maxBuffer: 16 * 1024 * 1024 })
  const json = (...args: string[]) => JSON.parse(run(...args, '--json').stdout)
  return { folder, env, run, json }
}

/** Starts the server, and reads its output up to the last line of the start message. */
async function serve({ folder, env }: ReturnType<typeof createFolder>, args: readonly string[] = []) {
  const child = spawn(process.execPath, [...asTerminal, main, 'serve', ...args], {
    env,
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  const reader = createInterface({ input: child.stdout })
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve))
  await new Promise<void>((resolve) => {
    reader.on('line', (line) => {
      lines.push(line)
      if (line.includes('models ') || line.includes('chat/completions')) resolve()
    })
  })
  after(() => child.kill('SIGKILL')) // even if the test failed before it stopped the server
  const address = /API +(\S+)\/v1/.exec(lines.join('\n'))?.[1] ?? ''
  return { child, lines, address, exit }
}

/** A server that waits for the body of a request. */
async function serveSlowly() {
  const server = await serve(createFolder())
  await new Promise((resolve) => setTimeout(resolve, 50)) // for the rest of the start message
  const key = /ak_\w+/.exec(server.lines.join('\n'))?.[0]
  const { hostname, port } = new URL(server.address)
  const socket = connect(Number(port), hostname).on('error', () => {})
  const body = '{"input":"hello"}'
  const headers = ['host: x', `authorization: Bearer ${key}`, 'content-type: application/json', 'expect: 100-continue']
  socket.write(['POST /v1/moderations HTTP/1.1', ...headers, `content-length: ${body.length}`, '', ''].join('\r\n'))
  const head = await new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(String(bytes))))
  return { ...server, socket, body, head }
}

const setupFields = ['admin_key', 'api_key', 'application_key', 'organization_id', 'project_id']

/** A key in the text of the first start. */
const keyOf = (output: string, label: string): string => new RegExp(`${label} +(\\S+)`).exec(output)?.[1] ?? ''

describe('the command line', () => {
  it('prints its version', () => {
    const { status, stdout } = createFolder().run('--version')
    assert.deepEqual([status, stdout], [0, `${packageFile.version}\n`])
  })
  it('ignores a reader that closes its output early', async () => {
    const { folder, env } = createFolder()
    const child = spawn(process.execPath, [main, 'openapi'], { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    const exit = new Promise((resolve) => child.once('exit', resolve))
    child.stdout.once('data', () => child.stdout.destroy())
    assert.equal(await text(child.stderr), '')
    assert.equal(await exit, 0)
  })
  it('serves and shuts down in order if its output cannot be written, and its exit code says so', async () => {
    const { folder, env } = createFolder()
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [main, 'serve'], { env, cwd: folder, stdio: ['ignore', full, 'pipe'] })
    const exit = new Promise((resolve) => child.once('exit', resolve))
    after(() => child.kill('SIGKILL'))
    const remarks = child.stderr && text(child.stderr)
    const socket = join(folder, 'data', 'control.sock')
    while (!existsSync(socket) && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 20))
    child.kill('SIGTERM')
    assert.deepEqual(
      [await exit, await remarks],
      [1, 'Standard output could not be written completely: ENOSPC: no space left on device, write\n'],
    )
    assert.equal(existsSync(socket), false)
    assert.equal(spawnSync(process.execPath, [main, '--version'], { stdio: ['ignore', full, 'ignore'] }).status, 1)
  })
  it('serves on the address and the data folder that its options name', async () => {
    const scene = createFolder()
    const other = join(scene.folder, 'other')
    const busy = { ...scene, env: { ...scene.env, GATEHOUSE_PORT: '1', GATEHOUSE_HOST: '192.0.2.1' } }
    const server = await serve(busy, ['--port', '0', '--host', '127.0.0.1', '--data-dir', other])
    assert.equal((await fetch(`${server.address}/health/live`)).status, 200)
    assert.deepEqual([existsSync(join(other, 'gatehouse.db')), existsSync(join(scene.folder, 'data'))], [true, false])
    server.child.kill('SIGTERM')
    assert.equal(await server.exit, 0)
    const wrong = scene.run('serve', '--port', 'http')
    assert.deepEqual([wrong.status, /server\.port/.test(wrong.stderr)], [2, true])
  })
  it('sets up an empty folder once', () => {
    const { run, json } = createFolder()
    const made = json('setup')
    assert.deepEqual(Object.keys(made).sort(), setupFields)
    const again = run('setup', '--json')
    assert.equal(again.status, 1)
    assert.match(again.stderr, /exists already/)
  })
  it('shows the permissions of the keys of the first start and of later keys', () => {
    const { run, json } = createFolder()
    assert.match(
      run('setup').stdout,
      /may do everything[^]*policy gateway key[^]*not for applications[^]*\(gateway:read, gateway:write, exports:read, exports:write\)[^]*application key[^]*only calls models/,
    )
    const permissionsOf = Object.fromEntries(
      json('keys', 'list').api_keys.map(({ name, permissions }: { name: string; permissions: string[] }) => [
        name,
        permissions,
      ]),
    )
    assert.deepEqual(permissionsOf, {
      'First policy gateway key': ['gateway:read', 'gateway:write', 'exports:read', 'exports:write'],
      'First application key': [],
    })
    assert.match(run('keys', 'create', '--name', 'chat').stdout, /chat may: inference\. /)
    const more = run('keys', 'create', '--name', 'reports', '--permissions', 'gateway:read,exports:read').stdout
    assert.match(more, /reports may: inference gateway:read exports:read\. /)
    assert.match(run('keys', 'list').stdout, /reports +ak_\S+ +inference gateway:read exports:read /)
  })
  it('creates keys that work only from some addresses', () => {
    const { run, json } = createFolder()
    json('setup')
    const networks = ['--allow-ip', '203.0.113.7', '--allow-ip', '10.0.0.0/8, 2001:db8::/32']
    const kept = ['203.0.113.7/32', '10.0.0.0/8', '2001:db8::/32']
    assert.deepEqual(json('keys', 'create', '--name', 'office', ...networks).allowed_ips, kept)
    assert.deepEqual(json('keys', 'create', '--admin', '--name', 'office', ...networks).allowed_ips, kept)
    const wrong = run('keys', 'create', '--name', 'office', '--allow-ip', 'localhost')
    assert.deepEqual([wrong.status, /allowed_ips\[0\]/.test(wrong.stderr)], [1, true])
    assert.equal(run('keys', 'create', '--name', 'nobody', '--allow-ip', '').status, 1)
  })
  it('creates, lists and revokes keys and projects, with and without a running server', async () => {
    const scene = createFolder()
    const made = scene.json('setup')
    const before = scene.json('keys', 'create', '--name', 'before')
    const server = await serve(scene)
    try {
      const project = scene.json('projects', 'create', '--name', 'second')
      const during = scene.json(
        'keys',
        'create',
        '--name',
        'during',
        '--project',
        project.id,
        '--models',
        'gatehouse-echo',
      )
      const send = (key: string): Promise<Response> =>
        fetch(`${server.address}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'gatehouse-echo', messages: [{ role: 'user', content: 'hi' }] }),
        })
      for (const key of [made.api_key, made.application_key, before.value, during.value])
        assert.equal((await send(key)).status, 200)
      scene.json('keys', 'revoke', during.id)
      assert.equal((await send(during.value)).status, 401)
      scene.json('projects', 'archive', made.project_id)
      assert.equal((await send(made.api_key)).status, 401)
      assert.equal(statSync(join(scene.env.GATEHOUSE_DATA_DIR, 'control.sock')).mode & 0o777, 0o600)
      assert.equal(scene.json('keys', 'list').api_keys.length, 4)
    } finally {
      server.child.kill('SIGTERM')
    }
    assert.equal(await server.exit, 0)
  })
  it('prints JSON with the field names of the API', () => {
    const { json } = createFolder()
    json('setup')
    const output = [
      json('orgs', 'list'),
      json('orgs', 'set-limits', '--rpm', '5'),
      json('projects', 'list'),
      json('keys', 'create', '--admin', '--name', 'second'),
      json('keys', 'list'),
      json('credits', 'balance'),
      json('credits', 'grant', '50', '--ref', 'gift'),
      json('credits', 'correct', '45', '--ref', 'typo', '--note', '5 were meant'),
      json('credits', 'ledger'),
      json('ledger', 'verify'),
      json('audit', 'verify'),
      json('gateway', 'show'),
    ]
    const names: string[] = []
    JSON.stringify(output, (name, value: unknown) => (names.push(name), value))
    assert.deepEqual(
      names.filter((name) => !/^[a-z\d_]*$/.test(name)),
      [],
    )
  })
  it('serves an empty folder: sets it up, shows the keys once, and prints requests that work as pasted', async () => {
    const scene = createFolder()
    const first = await serve(scene)
    await new Promise((resolve) => setTimeout(resolve, 50))
    const output = first.lines.join('\n')
    const curls = output.split(/(?=^ {2}curl )/m).slice(1)
    assert.equal(curls.length, 3)
    for (const curl of curls) {
      const { stdout } = spawnSync('bash', ['-c', curl.trim().replace('curl ', 'curl -s ')], { encoding: 'utf8' })
      assert.match(stdout, /Hello/)
      assert.ok(curl.includes(keyOf(output, 'application key')))
    }
    const address = /http:\/\/\S+?:\d+/.exec(output)?.[0] ?? ''
    const statusOf = async (key: string): Promise<number> =>
      (await fetch(`${address}/api/policy-gateway/config`, { headers: { authorization: `Bearer ${key}` } })).status
    assert.match(output, /plan free: 60 requests a minute for each key; gatehouse orgs set-plan/)
    assert.equal(await statusOf(keyOf(output, 'application key')), 403)
    assert.equal(await statusOf(keyOf(output, 'policy gateway key')), 200)
    first.child.kill('SIGTERM')
    assert.equal(await first.exit, 0)
    const second = await serve(scene)
    assert.doesNotMatch(second.lines.join('\n'), /ak_|adm_/)
    second.child.kill('SIGTERM')
    await second.exit
  })
  it('prints one line of JSON for each event where its output is no terminal', async () => {
    const scene = createFolder()
    const start = async (more: Record<string, string> = {}) => {
      const child = spawn(process.execPath, [main, 'serve'], {
        env: { ...scene.env, GATEHOUSE_LOG_LEVEL: 'info', ...more },
        cwd: scene.folder,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      after(() => child.kill('SIGKILL'))
      const output = text(child.stdout)
      const exit = new Promise((resolve) => child.once('exit', resolve))
      await new Promise((resolve) => child.stdout.once('data', resolve))
      child.kill('SIGTERM')
      assert.equal(await exit, 0)
      const lines = (await output).trimEnd().split('\n')
      return lines.map((line): Record<string, unknown> => JSON.parse(line))
    }
    const lines = await start()
    const welcome = lines.find(({ message }) => message === 'Gatehouse started')
    assert.ok(lines.some(({ message }) => String(message).startsWith('Stopping')))
    assert.deepEqual(Object.keys(welcome?.['first_start'] ?? {}).sort(), setupFields)
    assert.deepEqual(welcome?.['plan'], { name: 'free', requests_per_minute: 60 })
    assert.match(String(welcome?.['console_link']), /#start=/)
    const again = JSON.stringify(await start())
    assert.doesNotMatch(again, /ak_|adm_/)
    scene.env.GATEHOUSE_DATA_DIR = join(scene.folder, 'other')
    const file = join(scene.folder, 'keys.json')
    const toFile = JSON.stringify(await start({ GATEHOUSE_KEYS_FILE: file }))
    assert.doesNotMatch(toFile, /ak_\w|adm_\w|#start=/)
    assert.ok(toFile.includes(file))
  })
  it('writes the keys of the first start to a file instead, if it is configured', async () => {
    const scene = createFolder()
    const file = join(scene.folder, "owner's keys.json")
    const env = { ...scene.env, GATEHOUSE_KEYS_FILE: file }
    const first = await serve({ ...scene, env })
    await new Promise((resolve) => setTimeout(resolve, 50))
    const output = first.lines.join('\n')
    assert.doesNotMatch(output, /ak_\w|adm_\w|#start=/)
    assert.match(output, /gatehouse console link prints an address/)
    assert.ok(output.includes(file))
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const made = JSON.parse(readFileSync(file, 'utf8'))
    assert.deepEqual(Object.keys(made).sort(), setupFields)
    const [, pasted = ''] = output.split('Try it:\n')
    const { stdout } = spawnSync('bash', ['-c', pasted.replaceAll('curl ', 'curl -s ')], { encoding: 'utf8' })
    assert.equal(stdout.match(/Hello/g)?.length, 3)
    first.child.kill('SIGTERM')
    assert.equal(await first.exit, 0)
    const second = await serve({ ...scene, env }) // the existing file no longer matters
    second.child.kill('SIGTERM')
    assert.equal(await second.exit, 0)
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), made)
  })
  it('does not overwrite a file with keys, and then creates nothing', () => {
    const scene = createFolder()
    const file = join(scene.folder, 'keys.json')
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [main, ...args], {
        env: { ...scene.env, GATEHOUSE_KEYS_FILE: file },
        cwd: scene.folder,
        encoding: 'utf8',
      })
    writeFileSync(file, 'mine')
    for (const command of ['setup', 'serve']) {
      const { status, stderr } = run(command)
      assert.equal(status, 1)
      assert.match(stderr, /setup\.keys_file: .*keys\.json exists already/)
    }
    assert.equal(readFileSync(file, 'utf8'), 'mine')
    assert.deepEqual(scene.json('orgs', 'list').data, [])
    rmSync(file)
    const { stdout } = run('setup', '--json')
    assert.deepEqual(Object.keys(JSON.parse(stdout)).sort(), ['keys_file', 'organization_id', 'project_id'])
    assert.match(JSON.parse(readFileSync(file, 'utf8')).api_key, /^ak_/)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.match(run('setup').stderr, /organization exists already|exists already/)
  })
  it('names the missing folder of the file with keys', () => {
    const { env, folder } = createFolder()
    const file = join(folder, 'nowhere', 'keys.json')
    const { status, stderr } = spawnSync(process.execPath, [main, 'setup'], {
      env: { ...env, GATEHOUSE_KEYS_FILE: file },
      cwd: folder,
      encoding: 'utf8',
    })
    assert.equal(status, 1)
    assert.match(stderr, /setup\.keys_file: .*nowhere\/keys\.json cannot be written: .*ENOENT/)
  })
  it('ends at once at the second signal, even if requests are still running', { timeout: 25_000 }, async () => {
    const { child, exit, head } = await serveSlowly()
    const stopping = new Promise((resolve) => child.stdout.once('data', resolve))
    child.kill('SIGTERM')
    await stopping
    await new Promise((resolve) => setTimeout(resolve, 1_100)) // an earlier one counts as the same signal
    child.kill('SIGTERM')
    assert.equal(await exit, 0)
    assert.match(head, /100 Continue/)
  })
  it('treats two signals within a second as one, because npm repeats the signal of the terminal', async () => {
    const { child, exit, socket, body } = await serveSlowly()
    const stopping = new Promise((resolve) => child.stdout.on('data', resolve))
    child.kill('SIGINT')
    child.kill('SIGTERM')
    await stopping
    socket.write(body)
    assert.match(await text(socket), /^HTTP\/1\.1 200 /)
    assert.equal(await exit, 0)
  })
  it('rejects a second server on the same folder with an explanation', async () => {
    const scene = createFolder()
    const server = await serve(scene)
    const second = scene.run('serve')
    const { stdout: diagnosis } = scene.run('doctor', '--offline')
    assert.match(
      diagnosis,
      /disk: .* are free; the database has .* requests in the last 7 days make it grow by .* a week/,
    )
    assert.ok(
      diagnosis.includes(`✓ server: version ${packageFile.version} runs on the data folder, at ${server.address}`),
    )
    assert.match(diagnosis, /✓ job remove-old-backtests: .*; it has not run yet/) // its metrics are read as well
    assert.equal(scene.run('health').stdout, 'ready\n')
    assert.equal(second.status, 1)
    assert.match(second.stderr, /in use by process \d+/)
    server.child.kill('SIGTERM')
    await server.exit
  })
  it('diagnoses problems and suggests fixes', () => {
    const { run, folder } = createFolder()
    const fine = run('doctor', '--json')
    assert.ok(JSON.parse(fine.stdout).some(({ part }: { part: string }) => part === 'storage'))
    writeFileSync(
      join(folder, 'gatehouse.yaml'),
      'models: [{ name: m, targets: [{ upstream: lost }] }]\nupstreams: [{ name: u, kind: anthropic, base_url: "http://127.0.0.1:9" }]',
    )
    const sick = run('doctor')
    assert.equal(sick.status, 1)
    assert.match(sick.stdout, /its upstream lost is not configured/)
    assert.match(sick.stdout, /cannot be reached/)
  })
  it('shows the port and the certificate of a start', () => {
    const { run, folder } = createFolder()
    const tls = (name: string): string => new URL(`../fixtures/tls/${name}`, import.meta.url).pathname
    const settings = (key: string): string =>
      `server: { admin_port: 1, tls: { cert_file: ${tls('gateway.cert.pem')}, key_file: ${tls(key)} } }`
    writeFileSync(join(folder, 'gatehouse.yaml'), settings('gateway.key.pem'))
    const { stdout } = run('doctor')
    assert.match(stdout, /127\.0\.0\.1:1 is free/)
    assert.match(stdout, /the certificate is valid until .* 2126/)
    writeFileSync(join(folder, 'gatehouse.yaml'), settings('nowhere.pem'))
    assert.match(run('doctor').stdout, /server\.tls\.key_file: .*nowhere\.pem cannot be read/)
  })
  it('prints its usage, and rejects an invalid call', () => {
    const { run, folder } = createFolder()
    assert.match(run('--help').stdout, /serve .*\n[^]*doctor/)
    assert.match(run('keys', '--help').stdout, /keys create/)
    assert.equal(run('nonsense').status, 2)
    assert.equal(run('keys', 'create').status, 2)
    writeFileSync(join(folder, 'gatehouse.yaml'), 'sever: {}')
    const wrong = run('serve')
    assert.equal(wrong.status, 2)
    assert.match(wrong.stderr, /sever is not known; did you mean server/)
  })
  it('prints the OpenAPI description', () => {
    const { run } = createFolder()
    const description = JSON.parse(run('openapi').stdout)
    assert.equal(description.openapi, '3.1.0')
    assert.ok(description.paths['/v1/messages'].post)
  })
})
