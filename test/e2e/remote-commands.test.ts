import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { commands } from '../../src/cli/commands.ts'
import { runCommandLine } from '../../src/cli/run.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let app: TestApp
let folder: Awaited<ReturnType<typeof temporaryFolder>>

before(async () => {
  app = await startTestApp()
  folder = await temporaryFolder()
})
after(async () => {
  await app[Symbol.asyncDispose]()
  await folder[Symbol.asyncDispose]()
})

type Env = Readonly<Record<string, string>>

/** A command in a folder without a database, so that only the server on the network can answer. */
async function call(args: readonly string[], env: Env = { GATEHOUSE_ADMIN_KEY: app.adminKey }) {
  const output: string[] = []
  const errors: string[] = []
  const status = await runCommandLine(args, {
    env: { GATEHOUSE_DATA_DIR: join(folder.path, 'nothing'), ...env },
    print: (line) => void output.push(line),
    printError: (line) => void errors.push(line),
    confirm: async () => false,
  })
  return { status, output: output.join('\n'), errors: errors.join('\n') }
}

const remotely = (...args: string[]) => call([...args, '--url', app.url])

/** A read of each command that an administrator key can run. */
const reads: Readonly<Record<string, readonly string[]>> = {
  projects: ['list'],
  keys: ['list'],
  members: ['list'],
  'sign-ins': ['list'],
  policies: ['list'],
  gateway: ['show'],
  plan: ['-f', 'FILE'],
  apply: ['-f', 'FILE', '--yes'],
  export: [],
  evaluate: ['Hello'],
  sinks: ['list'],
  appeals: ['list'],
  judges: ['list'],
  alerts: ['list'],
  models: ['list'],
  upstreams: ['list'],
  usage: [],
  costs: [],
  budgets: ['list'],
  limits: ['show'],
  credits: ['balance'],
  requests: ['list'],
  explain: ['REQUEST'],
  audit: ['keys'],
  system: ['show'],
}

describe('commands with the address of a server', () => {
  it('are all those that an administrator key can run', async () => {
    const remote: string[] = []
    for (const [name, load] of Object.entries(commands)) if ((await load()).isRemote) remote.push(name)
    assert.deepEqual(remote.toSorted(), Object.keys(reads).toSorted())
  })

  it('read from that server', async () => {
    const file = join(folder.path, 'empty.yaml')
    writeFileSync(file, 'owner: platform\nprojects: [{ name: From CI }]\n')
    const asked = await app.post('/v1/responses', { model: 'gatehouse-echo', input: 'Hello' })
    const given: Readonly<Record<string, string>> = { FILE: file, REQUEST: asked.headers.get('x-request-id') ?? '' }
    for (const [name, words] of Object.entries(reads)) {
      const { status, errors } = await remotely(name, ...words.map((word) => given[word] ?? word))
      // A plan with changes ends with 2.
      assert.equal(status, name === 'plan' ? 2 : 0, `${name}: ${errors}`)
    }
    assert.match((await remotely('projects', 'list')).output, /From CI/)
  })

  it('create, change, rotate and revoke a key', async () => {
    const created = await remotely('keys', 'create', '--name', 'ci', '--project', app.projectId, '--json')
    const { id, value } = JSON.parse(created.output)
    assert.match((await remotely('keys', 'update', id, '--name', 'ci 2')).output, /ci 2/)
    const rotated = JSON.parse((await remotely('keys', 'rotate', id, '--json')).output)
    assert.notEqual(rotated.value, value)
    assert.equal((await remotely('keys', 'revoke', id)).output, `${id} is revoked.`)
    assert.doesNotMatch((await remotely('keys', 'list')).output, new RegExp(id))
  })

  it('say what only the operator may do, and never fall back to the data folder', async () => {
    const verify = await remotely('audit', 'verify')
    assert.equal(verify.status, 1)
    assert.match(verify.errors, /only on the machine of the server/)
    const env = { GATEHOUSE_ADMIN_KEY: app.adminKey, GATEHOUSE_URL: app.url }
    for (const words of [['orgs', 'list'], ['ledger', 'verify'], ['secret', 'status'], ['setup']]) {
      const { status, errors } = await call(words, env)
      assert.equal(status, 1, words.join(' '))
      assert.match(errors, /only on the machine of the server/)
    }
    const backup = await remotely('backup', join(folder.path, 'backup.db'))
    assert.equal(backup.status, 2)
    assert.match(backup.errors, /backup works only on the machine of the server, so it has no --url/)
  })

  it('plan with a key that may only read', async () => {
    const permissions = 'policies:read,projects:read,keys:read,gateway:read,exports:read,usage:read'
    const created = await remotely(
      'keys',
      'create',
      '--admin',
      '--name',
      'plan',
      '--permissions',
      permissions,
      '--json',
    )
    const env = { GATEHOUSE_ADMIN_KEY: JSON.parse(created.output).value, GATEHOUSE_URL: app.url }
    const file = join(folder.path, 'planned.yaml')
    writeFileSync(file, 'owner: planned\nprojects: [{ name: Planned }]\npolicies: [{ name: P, rule: Be polite. }]\n')
    const plan = await call(['plan', '-f', file], env)
    assert.deepEqual([plan.status, plan.errors], [2, ''])
    const apply = await call(['apply', '-f', file, '--yes'], env)
    assert.equal(apply.status, 1)
    assert.match(apply.errors, /lacks the permission policies:write or/)
  })

  it('take the key from a file', async () => {
    const file = join(folder.path, 'key')
    writeFileSync(file, `${app.adminKey}\n`)
    const { status } = await call(['projects', 'list', '--url', app.url, '--admin-key-file', file], {})
    assert.equal(status, 0)
  })

  it('name what is wrong with the address or the key', async () => {
    const closed = await serve(() => ({ status: 200, body: '' }))
    await new Promise((resolve) => void closed.server.close(resolve))
    const cases: readonly (readonly [args: readonly string[], env: Env | undefined, status: number, says: RegExp])[] = [
      [['--url', 'gateway.example'], undefined, 2, /begins with http/],
      [['--url', 'http://user:word@127.0.0.1'], undefined, 2, /without a user name/],
      [['--url', app.url], {}, 2, /set GATEHOUSE_ADMIN_KEY/],
      [['--url', app.url], { GATEHOUSE_ADMIN_KEY: 'a\nb' }, 2, /characters that no key has/],
      [['--url', app.url], { GATEHOUSE_ADMIN_KEY: 'adm_wrong' }, 1, /API key|credential|authenticat/i],
      [['--url', closed.url], undefined, 1, /cannot be reached: .*ECONNREFUSED/],
      [['--url', `${app.url}/prefix`], undefined, 1, /No route for GET \/prefix/],
      [['--url', app.url, '--org', 'org_1'], undefined, 2, /--org is not for --url/],
    ]
    for (const [args, env, status, says] of cases) {
      const answer = await call(['projects', 'list', ...args], env)
      assert.match(answer.errors, says)
      assert.equal(answer.status, status, args.join(' '))
    }
  })

  it('do not send the key to the address of a redirect, and do not take the page of a proxy for an answer', async () => {
    const seen: string[] = []
    const other = await serve((_url, headers) => {
      seen.push(String(headers.authorization))
      return { status: 200, body: '{}' }
    })
    const proxy = await serve((url) =>
      url.startsWith('/moved')
        ? { status: 302, headers: { location: other.url }, body: '' }
        : { status: 502, body: '<h1>\u001b[31mBad gateway</h1>' },
    )
    try {
      for (const path of ['/moved', '']) {
        const { status, errors } = await call(['projects', 'list', '--url', `${proxy.url}${path}`])
        assert.equal(status, 1)
        assert.match(errors, /is not the API of Gatehouse/)
      }
      assert.deepEqual(seen, [])
    } finally {
      for (const { server } of [other, proxy]) server.close()
    }
  })

  it('warn before the key travels unencrypted', async () => {
    const { errors } = await call(['projects', 'list', '--url', 'http://gateway.invalid'])
    assert.match(errors, /sent to gateway\.invalid unencrypted: use https/)
  })
})

type Answer = { readonly status: number; readonly headers?: Record<string, string>; readonly body: string }

async function serve(answer: (url: string, headers: Record<string, unknown>) => Answer) {
  const server: Server = createServer((request, response) => {
    const { status, headers = {}, body } = answer(request.url ?? '', request.headers)
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return { server, url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}` }
}
